"""Takes a mount off, to see what lies below it.

rows: F6
guards: seccomp=EPERM landlock=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("umount2", b"/dev/shm", 2))
