"""Opens netlink for the firewall, where most exploited bugs were.

rows: N1 K2
guards: seccomp=EAFNOSUPPORT
control: none, not every kernel has the firewall's tables
"""

from kit import attempt, call

attempt(lambda: call("socket", 16, 3, 12))
