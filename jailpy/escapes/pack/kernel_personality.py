"""Makes all that it may read executable.

rows: K18
guards: seccomp=ENOSYS
"""

from kit import attempt, call

attempt(lambda: call("personality", 0x0400000))
