"""Takes one of the processor's keys for memory.

rows: K20
guards: seccomp=ENOSYS
works: worked|ENOSPC|EINVAL
"""

from kit import attempt, call

attempt(lambda: call("pkey_alloc", 0, 0))
