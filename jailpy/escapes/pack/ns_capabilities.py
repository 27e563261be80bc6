"""Gives itself capabilities.

rows: N7
guards: seccomp=EPERM capabilities=EPERM
"""

import struct

from kit import attempt, call

header, wanted = struct.pack("<2I", 0x20080522, 0), struct.pack("<6I", 1 << 21, 1 << 21, 0, 0, 0, 0)
attempt(lambda: call("capset", header, wanted))
