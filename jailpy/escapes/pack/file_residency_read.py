"""Reads only what is in memory already: that tells what a neighbour has just read.

rows: I6
guards: seccomp=ENOSYS
"""

import ctypes
import os
import struct

from kit import attempt, call

shown = os.open("/canary/file", os.O_RDONLY)
room = ctypes.create_string_buffer(8)
vector = struct.pack("<QQ", ctypes.addressof(room), 8)
attempt(lambda: call("preadv2", shown, vector, 1, 0, 0, 8))
