"""Makes a queue that outlives it.

rows: I1
guards: seccomp=EPERM
"""

from kit import attempt, call

attempt(lambda: call("msgget", 0, 0o600))
