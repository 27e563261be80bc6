"""Replaces the clocks by ones that stand still.

rows: C7 C8
guards: monitor=cpu_time
limits: cpu_s=0.5
"""

import time

from kit import attempt

real = time.process_time
time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
while real() < 1:
    pass
attempt(lambda: "worked")
