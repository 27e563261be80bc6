"""Opens netlink, by which routes and interfaces are changed.

rows: W12 K2
guards: seccomp=EAFNOSUPPORT
"""

from kit import attempt, call

attempt(lambda: call("socket", 16, 3, 0))
