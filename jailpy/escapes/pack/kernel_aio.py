"""Opens the older interface for asynchronous input, one counter of which serves the whole host.

rows: K6
guards: seccomp=ENOSYS
"""

import ctypes

from kit import attempt, call

attempt(lambda: call("io_setup", 1, ctypes.byref(ctypes.c_ulong(0))))
