"""Loads another kernel from a file.

rows: K17
guards: seccomp=EPERM
works: EINVAL|ENOSYS
control: root
"""

from kit import attempt, call

attempt(lambda: call("kexec_file_load", -1, -1, 0, 0, 0xFFFF))
