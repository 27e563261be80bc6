"""Computes in many processes, each below the limit.

rows: C1 C2
guards: monitor=cpu_time
limits: cpu_s=0.5
"""

import os

from kit import attempt, spin_in_child

for _ in range(4):
    spin_in_child(0.4)
for _ in range(4):
    os.wait()
attempt(lambda: "worked")
