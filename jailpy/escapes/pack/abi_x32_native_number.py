"""Makes a call above the x32 numbers.

rows: K14
guards: seccomp=SIGSYS
control: none, few kernels have x32
machine: x86_64
"""

import ctypes

from kit import attempt, checked, libc

attempt(lambda: checked(libc.syscall(ctypes.c_long(0x40000000 | 520), b"/bin/true", None, None)))
