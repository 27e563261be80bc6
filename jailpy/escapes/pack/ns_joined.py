"""Joins a namespace by its file in /proc.

rows: N3
guards: seccomp=EPERM capabilities=EPERM
"""

import os

from kit import attempt, call, in_child

space = os.open("/proc/self/ns/uts", os.O_RDONLY)
attempt(lambda: in_child(lambda: call("setns", space, 0)))
