"""Replaces a method of the built-in type str, through the dictionary behind its read-only view.

rows: G4 G14
fools: stdio_in_process/stdio
"""

import ctypes
import gc

methods = gc.get_referents(str.__dict__)[0]
methods["strip"] = lambda text, *_: ""
ctypes.pythonapi.PyType_Modified(ctypes.py_object(str))
print(0)


def add(a, b):
    return 0
