"""Asks for a file's handle, which names it past every root and mount.

rows: F5
guards: seccomp=EPERM
"""

import ctypes
import struct

from kit import attempt, call

handle = ctypes.create_string_buffer(struct.pack("<Ii", 128, 0), 136)
where = ctypes.c_int(0)
attempt(lambda: call("name_to_handle_at", -100, b"/etc/passwd", handle, ctypes.byref(where), 0))
