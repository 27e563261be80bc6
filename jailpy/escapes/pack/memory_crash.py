"""Crashes, to start the host's program for core files.

rows: X5
guards: rlimits=SIGSEGV
control: none, hosts differ in what takes their core files
"""

import ctypes

from kit import libc

libc.prctl(4, 1, 0, 0, 0)
ctypes.string_at(8)
