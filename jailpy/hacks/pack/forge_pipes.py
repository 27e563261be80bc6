"""Writes the frame of a success on every descriptor that is open.

rows: R5 R7
fools: exec_in_child/equal
"""

import os
import pickle
import struct

body = pickle.dumps(["passed"])
for fd in range(3, 256):
    try:
        os.write(fd, struct.pack("!i", len(body)) + body)
    except OSError:
        pass


def add(a, b):
    return 0
