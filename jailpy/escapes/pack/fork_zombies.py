"""Leaves children that have ended, whose numbers stay taken.

rows: B4
guards: pids_cgroup=processes|EAGAIN
limits: processes=16
"""

import os

from kit import attempt


def fork():
    for _ in range(40):
        if os.fork() == 0:
            os._exit(0)


attempt(fork)
