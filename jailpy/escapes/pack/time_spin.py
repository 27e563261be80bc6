"""Computes without end.

rows: C1
guards: monitor=cpu_time
limits: cpu_s=0.5
"""

import time

from kit import attempt

while time.process_time() < 1:
    pass
attempt(lambda: "worked")
