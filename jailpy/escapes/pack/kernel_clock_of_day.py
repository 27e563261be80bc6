"""Sets the machine's clock by the older call.

rows: K17
guards: seccomp=EPERM
works: EINVAL
"""

import struct

from kit import attempt, call

attempt(lambda: call("settimeofday", struct.pack("<2q", 0, 1 << 40), None))
