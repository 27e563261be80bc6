"""Moves another process's pages between banks.

rows: M9 T1
guards: seccomp=EPERM
works: worked|ENOSYS|EPERM|EINVAL
control: none, kernels without memory banks do not have the call
"""

import struct

from kit import attempt, call

attempt(lambda: call("migrate_pages", 1, 1, struct.pack("Q", 1), struct.pack("Q", 1)))
