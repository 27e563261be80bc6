"""Makes shared memory that outlives it.

rows: I1 M2
guards: seccomp=EPERM
"""

from kit import attempt, call

attempt(lambda: call("shmget", 0, 4096, 0o600))
