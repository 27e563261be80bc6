"""Takes page faults in hand, to win races against the kernel.

rows: K12
guards: seccomp=EPERM
"""

from kit import attempt, call

attempt(lambda: call("userfaultfd", 1))
