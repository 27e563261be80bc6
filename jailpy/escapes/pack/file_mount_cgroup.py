"""Mounts the cgroup file system, to change its own limits there.

rows: P8 K16
guards: seccomp=EPERM landlock=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("mount", b"cgroup2", b"/tmp", b"cgroup2", 0, None))
