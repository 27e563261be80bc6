"""Sets the machine's clock.

rows: K17
guards: seccomp=EPERM
works: EINVAL
"""

import struct

from kit import attempt, call

attempt(lambda: call("clock_settime", 0, struct.pack("<2q", 0, 1 << 40)))
