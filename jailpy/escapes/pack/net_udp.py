"""Opens a UDP socket.

rows: W3
guards: seccomp=EAFNOSUPPORT
"""

from kit import attempt, call

attempt(lambda: call("socket", 2, 2, 0))
