"""Has a pipe send it signals, by an ioctl that no program needs.

rows: D7 X1
guards: seccomp=ENOTTY
"""

import fcntl
import os
import struct

from kit import attempt

reader, _ = os.pipe()
attempt(lambda: fcntl.ioctl(reader, 0x5452, struct.pack("i", 1)))
