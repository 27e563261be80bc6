"""Changes who shares a core with it.

rows: T8
guards: seccomp=ENOSYS
works: worked|EINVAL|ENODEV
"""

from kit import attempt, checked, libc

attempt(lambda: checked(libc.prctl(62, 1, 0, 0, 0)))
