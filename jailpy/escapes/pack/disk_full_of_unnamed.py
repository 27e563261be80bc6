"""Writes more than it may into files that it has removed.

rows: S4
guards: root=disk|ENOSPC
"""

import os

from kit import attempt

held = []


def write():
    for number in range(30):
        held.append(open(f"/tmp/{number}", "wb", 0))
        os.unlink(f"/tmp/{number}")
        held[-1].write(bytes(1 << 20))


attempt(write)
