"""Keeps its memory from being reclaimed.

rows: M5
guards: seccomp=ENOSYS rlimits=EPERM|ENOMEM
"""

import ctypes

from kit import attempt, checked, libc

room = ctypes.create_string_buffer(1 << 16)
attempt(lambda: checked(libc.mlock(room, ctypes.c_size_t(1 << 16))))
