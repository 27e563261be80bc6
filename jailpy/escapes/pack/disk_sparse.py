"""Makes a file that claims to be of four exbibytes.

rows: F10
guards: rlimits=EFBIG
"""

import os

from kit import attempt

own = os.open("/tmp/own", os.O_CREAT | os.O_RDWR)
attempt(lambda: os.ftruncate(own, 1 << 62))
