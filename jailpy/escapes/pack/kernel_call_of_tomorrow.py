"""Makes a call that no list knows yet.

rows: K20
guards: seccomp=ENOSYS
control: none, no kernel has it
"""

import ctypes

from kit import attempt, checked, libc

attempt(lambda: checked(libc.syscall(ctypes.c_long(1000))))
