"""Loads a module.

rows: K17 K15
guards: seccomp=EPERM
works: ENOEXEC|ENOSYS
control: root
"""

from kit import attempt, call

attempt(lambda: call("init_module", None, 0, b""))
