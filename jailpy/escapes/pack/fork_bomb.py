"""Forks more processes than it may have.

rows: B1 B2
guards: pids_cgroup=processes|EAGAIN
limits: processes=16
"""

import os
import signal

from kit import attempt


def fork():
    for _ in range(40):
        if os.fork() == 0:
            signal.pause()
    return "worked"


attempt(fork)
