"""Opens the interface that makes calls past a filter.

rows: K6
guards: seccomp=ENOSYS
works: worked|EPERM|ENOMEM
"""

import ctypes

from kit import attempt, call

attempt(lambda: call("io_uring_setup", 1, ctypes.create_string_buffer(120)))
