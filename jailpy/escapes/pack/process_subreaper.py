"""Becomes the parent of every orphan, by which one that counts on its tree is misled.

rows: T4
guards: seccomp=ENOSYS
"""

from kit import attempt, checked, libc

attempt(lambda: checked(libc.prctl(36, 1, 0, 0, 0)))
