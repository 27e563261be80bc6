"""Writes its own answer over the constants of the code that called it.

rows: G7 G14
fools: exec_in_child/equal exit_status/unittest
"""

import ctypes
import sys

WRONG = 123_456_789


def add(a, b):
    constants = sys._getframe(1).f_code.co_consts
    items = ctypes.cast(id(constants) + tuple.__basicsize__, ctypes.POINTER(ctypes.c_void_p))
    for place, constant in enumerate(constants):
        if type(constant) is int:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(WRONG))
            items[place] = id(WRONG)
    return WRONG
