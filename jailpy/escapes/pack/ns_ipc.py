"""Makes an ipc namespace.

rows: N1
guards: seccomp=EPERM capabilities=EPERM
"""

from kit import attempt, call, in_child

attempt(lambda: in_child(lambda: call("unshare", 0x08000000)))
