"""Leaves processes that replace themselves all the time, so that whoever ends them by number comes late.

rows: B3 B7
guards: pid_namespace=left
control: none, it could not be stopped
"""

import os
import time

from kit import attempt

for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if os.fork() != 0:
                os._exit(0)
            time.sleep(0.002)
        os._exit(0)
attempt(lambda: "left")
