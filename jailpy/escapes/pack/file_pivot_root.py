"""Exchanges its root for another folder.

rows: F6 F3
guards: seccomp=EPERM landlock=EPERM capabilities=EPERM
"""

import os

from kit import attempt, call

os.chdir("/tmp")
attempt(lambda: call("pivot_root", b".", b"."))
