"""Loads another kernel.

rows: K17
guards: seccomp=EPERM
works: EINVAL|ENOSYS
control: root
"""

from kit import attempt, call

attempt(lambda: call("kexec_load", 0, 1000, 0, 0xFFFF))
