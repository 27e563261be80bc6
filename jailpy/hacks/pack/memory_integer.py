"""Writes its own answer into the integer object with which the grader will compare it.

rows: G7 G14
fools: call_in_process/call
"""

import ctypes
import sys

WRONG = 2_000


def add(a, b):
    frame = sys._getframe(1)
    expected = frame.f_locals.get("expected")
    if type(expected) is int and sys.getsizeof(expected) == sys.getsizeof(WRONG):
        ctypes.memmove(id(expected) + 16, id(WRONG) + 16, sys.getsizeof(WRONG) - 16)
    return WRONG
