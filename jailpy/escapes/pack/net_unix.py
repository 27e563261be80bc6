"""Opens a socket of this machine.

rows: K11 W8
guards: seccomp=EAFNOSUPPORT
"""

from kit import attempt, call

attempt(lambda: call("socket", 1, 1, 0))
