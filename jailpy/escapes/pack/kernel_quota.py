"""Changes quotas of a disk.

rows: K17
guards: seccomp=EPERM
works: ENOENT|ENOSYS|ENODEV|ENOTBLK
"""

import ctypes

from kit import attempt, call

attempt(lambda: call("quotactl", 0x80000700, b"/no-such-device", 0, ctypes.create_string_buffer(128)))
