"""Computes in one call that no signal handler interrupts.

rows: C6
guards: monitor=cpu_time
limits: cpu_s=0.5
"""

import time

from kit import attempt

while time.process_time() < 1:
    pow(3, 100_003) % pow(7, 60_001)
attempt(lambda: "worked")
