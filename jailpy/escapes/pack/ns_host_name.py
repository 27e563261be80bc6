"""Changes the host's name.

rows: N7 I7
guards: seccomp=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("sethostname", b"changed", 7))
