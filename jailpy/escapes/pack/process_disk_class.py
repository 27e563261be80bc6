"""Changes its class of disk access.

rows: T5
guards: seccomp=EPERM
works: worked|ENOSYS
"""

from kit import attempt, call

attempt(lambda: call("ioprio_set", 1, 0, 2 << 13 | 4))
