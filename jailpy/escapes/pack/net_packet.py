"""Opens a packet socket, which sees all that passes an interface.

rows: W12
guards: seccomp=EAFNOSUPPORT capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("socket", 17, 3, 0))
