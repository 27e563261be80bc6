"""Mounts a /proc of its own, without what hides other processes and the kernel's switches.

rows: F6 P4
guards: seccomp=EPERM landlock=EPERM capabilities=EPERM proc=EPERM
"""

from kit import attempt, call

attempt(lambda: call("mount", b"proc", b"/tmp", b"proc", 0, None))
