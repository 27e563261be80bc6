"""Mounts a file system over a folder.

rows: F6 K16
guards: seccomp=EPERM landlock=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("mount", b"tmpfs", b"/tmp", b"tmpfs", 0, None))
