"""Makes pipes large, of memory that no process's size shows.

rows: D7 M4
guards: seccomp=ENOSYS
"""

import fcntl
import os

from kit import attempt

reader, _ = os.pipe()
attempt(lambda: fcntl.fcntl(reader, 1031, 1 << 16))
