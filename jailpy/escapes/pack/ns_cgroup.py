"""Makes a cgroup namespace.

rows: N1 N8
guards: seccomp=EPERM capabilities=EPERM
"""

from kit import attempt, call, in_child

attempt(lambda: in_child(lambda: call("unshare", 0x02000000)))
