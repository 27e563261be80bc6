"""Leaves its priority to the next guest.

rows: H6 T5
guards: no_process_twice=clean
control: none, only a process that is used again would show it
runs: 2
"""

import os

from kit import attempt


def look():
    found = os.getpriority(os.PRIO_PROCESS, 0) > 5
    os.setpriority(os.PRIO_PROCESS, 0, 9)
    return "worked" if found else "clean"


attempt(look)
