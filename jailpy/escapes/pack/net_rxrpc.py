"""Opens a socket of AFS's protocol, the entry of an attack on the page cache.

rows: K3 K15
guards: seccomp=EAFNOSUPPORT
control: none, a control would load a module
"""

from kit import attempt, call

attempt(lambda: call("socket", 33, 2, 2))
