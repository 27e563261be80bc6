"""Takes more memory than it may have.

rows: M1 M7
guards: memory_cgroup=memory
limits: memory_mb=64
"""

import time

from kit import attempt

held = []
for _ in range(200):
    held.append(bytearray(b"x") * (1 << 20))
time.sleep(0.2)
attempt(lambda: "worked")
