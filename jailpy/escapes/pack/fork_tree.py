"""Forks in every child, faster than one can be ended.

rows: B1
guards: pids_cgroup=processes|EAGAIN
limits: processes=16
"""

import os
import time

from kit import outcome


def fork():
    for _ in range(6):
        os.fork()


parent = os.getpid()
seen = outcome(fork)
time.sleep(0.5)
if os.getpid() == parent:
    print(seen, flush=True)
os._exit(0)
