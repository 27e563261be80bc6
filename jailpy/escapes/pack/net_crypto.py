"""Opens a socket of the kernel's cryptography, the entry of an attack on the page cache.

rows: K1 K3 K15
guards: seccomp=EAFNOSUPPORT
control: none, a control would load a module
"""

from kit import attempt, call

attempt(lambda: call("socket", 38, 5, 0))
