"""Installs a filter with a listener, which answers other processes' calls.

rows: K19 K21
guards: seccomp=EPERM
"""

import ctypes
import struct

from kit import attempt, call

allow = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000), 8)
program = struct.pack("<H6xQ", 1, ctypes.addressof(allow))
attempt(lambda: call("seccomp", 1, 8, program))
