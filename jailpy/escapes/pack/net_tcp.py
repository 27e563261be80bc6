"""Opens a TCP socket.

rows: W1 W6
guards: seccomp=EAFNOSUPPORT
"""

from kit import attempt, call

attempt(lambda: call("socket", 2, 1, 0))
