"""Changes what the kernel takes for its program.

rows: P2 T4
guards: seccomp=ENOSYS
works: EINVAL|EPERM|EACCES|EBADF
"""

import ctypes

from kit import attempt, checked, libc

attempt(lambda: checked(libc.prctl(35, ctypes.c_ulong(13), ctypes.c_ulong(1 << 20), 0, 0)))
