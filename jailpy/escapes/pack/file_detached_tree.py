"""Takes a copy of its root that belongs to no tree.

rows: F6 K16
guards: seccomp=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("open_tree", -100, b"/tmp", 1))
