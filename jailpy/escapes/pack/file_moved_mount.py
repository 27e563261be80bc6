"""Moves a mount to another place.

rows: F6 K16
guards: seccomp=EPERM capabilities=EPERM
works: EBADF
"""

from kit import attempt, call

attempt(lambda: call("move_mount", -1, b"", -1, b"", 4 | 64))
