"""Uses descriptors that its maker forgot to close.

rows: D1
guards: descriptors=hidden
control: host
"""

import os

from kit import attempt


def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


attempt(lambda: "worked" if any(is_open(fd) for fd in range(4, 2048)) else "hidden")
