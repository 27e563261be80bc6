"""Pastes into the machine's console.

rows: X2
guards: seccomp=ENOTTY
control: none, there is no terminal in a jail, and a control would paste into this one
"""

import fcntl

from kit import attempt_any

attempt_any(lambda fd=fd: fcntl.ioctl(fd, 0x541C, b"\x03") for fd in range(3))
