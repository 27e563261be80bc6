"""Asks for a share of the processor that nobody can take away.

rows: T5
guards: seccomp=EPERM
works: worked|EINVAL
"""

import struct

from kit import attempt, call

attributes = struct.pack("<IIQiIQQQ", 48, 0, 0, 0, 0, 0, 0, 0)
attempt(lambda: call("sched_setattr", 0, attributes, 0))
