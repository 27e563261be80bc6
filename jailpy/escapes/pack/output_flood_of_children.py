"""Has its children print what it may not.

rows: O1
guards: monitor=output
"""

import os

from kit import attempt

for _ in range(4):
    if os.fork() == 0:
        os.write(1, b"x\n" * (1 << 18))
        os._exit(0)
for _ in range(4):
    os.wait()
attempt(lambda: "worked")
