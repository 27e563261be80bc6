"""Takes memory by mapping, past every allocator.

rows: M1
guards: memory_cgroup=memory
limits: memory_mb=64
"""

import mmap
import time

from kit import attempt

room = mmap.mmap(-1, 200 << 20)
for at in range(0, len(room), 4096):
    room[at] = 1
time.sleep(0.2)
attempt(lambda: "worked")
