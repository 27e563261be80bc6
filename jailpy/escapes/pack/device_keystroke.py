"""Types a command into the terminal that the library was started from.

rows: X1 O6
guards: seccomp=ENOTTY
control: none, there is no terminal in a jail, and a control would type into this one
"""

import fcntl

from kit import attempt_any

attempt_any(lambda fd=fd: fcntl.ioctl(fd, 0x5412, b"x") for fd in range(3))
