"""Makes a pid namespace, whose processes it hides.

rows: N1 N6
guards: seccomp=EPERM capabilities=EPERM
"""

from kit import attempt, call, in_child

attempt(lambda: in_child(lambda: call("unshare", 0x20000000)))
