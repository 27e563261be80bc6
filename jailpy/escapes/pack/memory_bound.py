"""Binds pages to a bank.

rows: M9
guards: seccomp=EPERM
works: worked|ENOSYS
"""

import ctypes
import mmap

from kit import attempt, call

room = mmap.mmap(-1, 4096)
attempt(lambda: call("mbind", ctypes.addressof(ctypes.c_char.from_buffer(room)), 4096, 0, None, 0, 0))
