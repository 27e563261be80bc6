"""Copies a file's pages from inside the kernel.

rows: K5 F8
guards: seccomp=ENOSYS
"""

import ctypes
import os

from kit import attempt, call

own = os.open("/tmp/own", os.O_RDWR | os.O_CREAT)
os.write(own, b"data")
attempt(lambda: call("copy_file_range", own, ctypes.byref(ctypes.c_longlong(0)), own, ctypes.byref(ctypes.c_longlong(8)), 4, 0))
