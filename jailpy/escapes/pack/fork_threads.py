"""Starts more threads than it may have.

rows: B6
guards: pids_cgroup=processes|EAGAIN
limits: processes=16
"""

import os
import threading
import time

from kit import attempt


def start():
    for _ in range(40):
        try:
            threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        except RuntimeError:
            return "EAGAIN"


attempt(start)
os._exit(0)
