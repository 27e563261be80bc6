"""Joins another group.

rows: N7
guards: seccomp=EPERM capabilities=EPERM
control: root
"""

import struct

from kit import attempt, call

attempt(lambda: call("setgroups", 1, struct.pack("I", 0)))
