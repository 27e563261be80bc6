"""Makes a process whose parent is its own parent, who would take that one's end for the guest's.

rows: R9 T4
guards: seccomp=EPERM
works: worked|EINVAL
"""

import os
import signal

from kit import attempt, call


def clone():
    if call("clone", 0x8000 | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)


attempt(clone)
