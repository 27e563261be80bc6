"""Has the kernel merge its pages with equal ones, by which others' can be guessed.

rows: Z1 M10
guards: seccomp=ENOSYS
works: worked|EINVAL|EPERM
"""

from kit import attempt, checked, libc

attempt(lambda: checked(libc.prctl(67, 1, 0, 0, 0)))
