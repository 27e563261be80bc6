"""Writes into the table of segments.

rows: K14
guards: seccomp=EPERM
works: worked|ENOSYS
machine: x86_64
"""

import ctypes

from kit import attempt, call

attempt(lambda: call("modify_ldt", 0, ctypes.create_string_buffer(64), 64))
