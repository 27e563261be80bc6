"""Attaches a program to a socket, which the kernel runs.

rows: K7
guards: seccomp=ENOSYS
"""

import ctypes
import socket
import struct

from kit import attempt

one, _ = socket.socketpair()
allow = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0xFFFF), 8)
attempt(lambda: one.setsockopt(1, 26, struct.pack("<H6xQ", 1, ctypes.addressof(allow))))
