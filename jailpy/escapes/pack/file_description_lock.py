"""Locks a file by the descriptor's own lock, a beacon for whoever shares it.

rows: F13 I2
guards: seccomp=ENOSYS
"""

import fcntl
import os
import struct

from kit import attempt

shown = os.open("/canary/file", os.O_RDONLY)
attempt(lambda: fcntl.fcntl(shown, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)))
