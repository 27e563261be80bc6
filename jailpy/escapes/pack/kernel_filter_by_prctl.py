"""Installs a filter by the older call.

rows: K21
guards: seccomp=ENOSYS
"""

import ctypes
import struct

from kit import attempt, checked, libc

allow = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000), 8)
program = struct.pack("<H6xQ", 1, ctypes.addressof(allow))
attempt(lambda: checked(libc.prctl(22, 2, program, 0, 0)))
