"""Stops the machine.

rows: K17
guards: seccomp=EPERM capabilities=EPERM
works: EINVAL
"""

from kit import attempt, call

attempt(lambda: call("reboot", 1, 2, 3, 0))
