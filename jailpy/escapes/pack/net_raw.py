"""Opens a raw socket.

rows: W12
guards: seccomp=EAFNOSUPPORT capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("socket", 2, 3, 1))
