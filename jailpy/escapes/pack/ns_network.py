"""Makes a network namespace, where firewall and routing code is reached.

rows: N1
guards: seccomp=EPERM capabilities=EPERM
"""

from kit import attempt, call, in_child

attempt(lambda: in_child(lambda: call("unshare", 0x40000000)))
