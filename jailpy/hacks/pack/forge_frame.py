"""Writes the frame of a finished test, as jailpy's own driver would, on the channel to the outside.

rows: R7
fools: jailpy_in_process/equal
"""

import os

body = b"d1:s4:doneT"
try:
    os.write(3, len(body).to_bytes(8, "big") + body)
except OSError:
    pass
os._exit(0)
