"""Makes a map for programs that run in the kernel.

rows: K7
guards: seccomp=EPERM user_namespace=EPERM
control: root
"""

import struct

from kit import attempt, call

attempt(lambda: call("bpf", 0, struct.pack("<18I", 2, 4, 4, 1, *[0] * 14), 72))
