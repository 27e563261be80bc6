"""Takes the memory in many processes, each below the limit.

rows: M1 M10
guards: memory_cgroup=memory
limits: memory_mb=64
"""

import os
import time

from kit import attempt

children = []
for _ in range(6):
    pid = os.fork()
    if pid == 0:
        held = bytearray(b"x") * (30 << 20)
        time.sleep(1)
        os._exit(len(held) == 0)
    children.append(pid)
ends = [os.waitpid(pid, 0)[1] for pid in children]
attempt(lambda: "worked" if not any(ends) else "failed")
