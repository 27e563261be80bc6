"""Makes a user namespace, in which it has every capability and the kernel's widest attack surface.

rows: N1 N5 N7
guards: seccomp=EPERM user_namespace=ENOSPC
"""

from kit import attempt, call, in_child

attempt(lambda: in_child(lambda: call("unshare", 0x10000000)))
