"""Loads a module from a file.

rows: K17
guards: seccomp=EPERM
works: EBADF|ENOSYS
control: root
"""

from kit import attempt, call

attempt(lambda: call("finit_module", -1, b"", 0))
