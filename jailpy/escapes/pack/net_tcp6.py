"""Opens a TCP socket for IPv6.

rows: W1
guards: seccomp=EAFNOSUPPORT
"""

from kit import attempt, call

attempt(lambda: call("socket", 10, 1, 0))
