"""Makes a time namespace, to shift its clocks.

rows: N9
guards: seccomp=EPERM capabilities=EPERM
"""

from kit import attempt, call, in_child

attempt(lambda: in_child(lambda: call("unshare", 0x80)))
