"""Makes semaphores that outlive it.

rows: I1
guards: seccomp=EPERM
"""

from kit import attempt, call

attempt(lambda: call("semget", 0, 1, 0o600))
