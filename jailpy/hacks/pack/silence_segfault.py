"""Reads address 0, so that the interpreter crashes before the failure is reported.

rows: R10 R11
fools: no_failure_line/equal
"""

import ctypes


def add(a, b):
    ctypes.string_at(0)
