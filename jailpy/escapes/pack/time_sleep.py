"""Sleeps without end.

rows: C3
guards: monitor=wall_time
limits: wall_s=0.5
"""

import time

from kit import attempt

time.sleep(2)
attempt(lambda: "worked")
