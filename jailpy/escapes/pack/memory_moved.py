"""Moves pages between banks.

rows: M9
guards: seccomp=EPERM
works: worked|ENOSYS
"""

from kit import attempt, call

attempt(lambda: call("move_pages", 0, 0, None, None, None, 0))
