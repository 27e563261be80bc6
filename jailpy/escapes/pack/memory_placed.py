"""Chooses the machine's memory bank that it takes from.

rows: M9
guards: seccomp=EPERM
works: worked|ENOSYS
"""

from kit import attempt, call

attempt(lambda: call("set_mempolicy", 0, None, 0))
