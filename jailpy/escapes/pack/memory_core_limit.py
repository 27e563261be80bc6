"""Asks for core files, which a program of the host takes as root.

rows: X5
guards: seccomp=EPERM
"""

import struct

from kit import attempt, call

attempt(lambda: call("prlimit64", 0, 4, struct.pack("<2Q", 0, 1), None))
