"""Changes the host's domain.

rows: N7 I7
guards: seccomp=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("setdomainname", b"changed", 7))
