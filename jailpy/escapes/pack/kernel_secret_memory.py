"""Takes memory that the kernel can neither move nor reclaim.

rows: M5 K20
guards: seccomp=ENOSYS
works: worked|ENOSYS|EMFILE
control: none, many kernels do not have it switched on
"""

from kit import attempt, call

attempt(lambda: call("memfd_secret", 0))
