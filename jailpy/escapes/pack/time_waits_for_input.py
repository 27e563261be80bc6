"""Waits for input that never comes.

rows: O6
guards: monitor=wall_time
limits: wall_s=0.5
control: none, it never goes on
"""

import os

from kit import attempt

reader, _ = os.pipe()
os.read(reader, 1)
attempt(lambda: "worked")
