"""Makes a keyring, which is its user's and outlives it.

rows: K13 I4
guards: seccomp=ENOSYS
"""

from kit import attempt, call

attempt(lambda: call("keyctl", 0, -2, 1))
