"""Asks how many pages of a shared file are in memory.

rows: I6
guards: seccomp=ENOSYS
works: worked|ENOSYS
control: none, kernels before 6.5 do not have the call
"""

import ctypes
import os
import struct

from kit import attempt, call

shown = os.open("/canary/file", os.O_RDONLY)
attempt(lambda: call("cachestat", shown, struct.pack("<QQ", 0, 4096), ctypes.create_string_buffer(64), 0))
