"""Lends pages of memory to a pipe.

rows: K4 F8
guards: seccomp=EPERM
"""

import ctypes
import os
import struct

from kit import attempt, call

_, writer = os.pipe()
room = ctypes.create_string_buffer(8)
attempt(lambda: call("vmsplice", writer, struct.pack("<QQ", ctypes.addressof(room), 8), 1, 0))
