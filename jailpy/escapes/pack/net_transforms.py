"""Opens netlink for IPsec, the entry of an attack on the page cache.

rows: K2
guards: seccomp=EAFNOSUPPORT
control: none, not every kernel has IPsec
"""

from kit import attempt, call

attempt(lambda: call("socket", 16, 3, 6))
