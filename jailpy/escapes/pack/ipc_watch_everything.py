"""Watches what others do to a whole file system.

rows: I3 F13
guards: seccomp=EPERM
works: worked|EPERM
control: none, before Linux 5.13 root alone could
"""

from kit import attempt, call

attempt(lambda: call("fanotify_init", 0x200, 0))
