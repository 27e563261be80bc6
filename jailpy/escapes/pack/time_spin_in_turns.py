"""Computes in one process after another, each of which starts at zero.

rows: C2
guards: monitor=cpu_time
limits: cpu_s=0.5
"""

import os

from kit import attempt, spin_in_child

for _ in range(4):
    spin_in_child(0.3)
    os.wait()
attempt(lambda: "worked")
