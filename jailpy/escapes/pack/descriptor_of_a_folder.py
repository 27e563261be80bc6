"""Climbs out by a folder that its maker left open.

rows: D1 D9 F3
guards: descriptors=hidden
control: host
"""

import os

from kit import attempt, given


def climb():
    for fd in range(3, 2048):
        try:
            os.stat(given["hidden"].lstrip("/"), dir_fd=fd)
        except OSError:
            continue
        return "worked"
    return "hidden"


attempt(climb)
