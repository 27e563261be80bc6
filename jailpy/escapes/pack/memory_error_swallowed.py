"""Swallows every error and goes on taking.

rows: M11 M1
guards: memory_cgroup=memory
limits: memory_mb=64
"""

import time

from kit import attempt

held = []
while len(held) < 200:
    try:
        held.append(bytearray(b"x") * (1 << 20))
    except BaseException:
        pass
time.sleep(0.2)
attempt(lambda: "worked")
