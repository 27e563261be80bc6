"""Chooses which signal a pipe sends.

rows: D7
guards: seccomp=ENOSYS
"""

import fcntl
import os
import signal

from kit import attempt

reader, _ = os.pipe()
attempt(lambda: fcntl.fcntl(reader, 10, signal.SIGUSR1))
