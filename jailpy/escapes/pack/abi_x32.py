"""Makes a call with the x32 bit, by which filters that look at numbers alone are passed.

rows: K14
guards: seccomp=SIGSYS
control: none, few kernels have x32
machine: x86_64
"""

import ctypes

from kit import attempt, checked, libc

attempt(lambda: checked(libc.syscall(ctypes.c_long(0x40000000 | 39))))
