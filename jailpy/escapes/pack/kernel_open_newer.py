"""Opens a file by the newer call, whose flags are in memory where no filter sees them.

rows: K20
guards: seccomp=ENOSYS
"""

import struct

from kit import attempt, call

attempt(lambda: call("openat2", -100, b"/canary/file", struct.pack("<3Q", 0, 0, 0), 24))
