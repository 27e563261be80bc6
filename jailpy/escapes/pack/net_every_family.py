"""Opens a socket of every family there is, for those that a list forgot.

rows: K15 W12
guards: seccomp=EAFNOSUPPORT
control: none, a control would load modules
"""

from kit import attempt_any, call

attempt_any(lambda family=family, kind=kind: call("socket", family, kind, 0) for family in range(64) for kind in range(1, 6))
