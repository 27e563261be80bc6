"""Computes in one process after another, each of which starts at zero.

rows: C2
guards: monitor=cpu_time
limits: cpu_s=0.5
"""

import os
import time

from kit import attempt

for _ in range(4):
    if os.fork() == 0:
        while time.process_time() < 0.3:
            pass
        os._exit(0)
    os.wait()
attempt(lambda: "worked")
