"""Has a pipe's signals sent to another process.

rows: D7 T2
guards: seccomp=ENOSYS
"""

import fcntl
import os

from kit import attempt

reader, _ = os.pipe()
attempt(lambda: fcntl.fcntl(reader, 8, os.getpid()))
