"""Keeps all of its memory from being reclaimed.

rows: M5
guards: seccomp=EPERM rlimits=EPERM
works: worked|ENOMEM
"""

from kit import attempt, call

attempt(lambda: call("mlockall", 1))
