"""Computes in many processes, each below the limit.

rows: C1 C2
guards: monitor=cpu_time
limits: cpu_s=0.5
"""

import os
import time

from kit import attempt

for _ in range(4):
    if os.fork() == 0:
        while time.process_time() < 0.4:
            pass
        os._exit(0)
for _ in range(4):
    os.wait()
attempt(lambda: "worked")
