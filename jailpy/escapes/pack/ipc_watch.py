"""Watches what others do to shared files.

rows: I3
guards: seccomp=EPERM
"""

from kit import attempt, call

attempt(lambda: call("inotify_init1", 0))
