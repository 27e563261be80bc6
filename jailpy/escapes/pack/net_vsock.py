"""Opens a socket to the hypervisor.

rows: K10 K15
guards: seccomp=EAFNOSUPPORT
control: none, a control would load a module
"""

from kit import attempt, call

attempt(lambda: call("socket", 40, 1, 0))
