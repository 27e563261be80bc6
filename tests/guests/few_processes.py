"""Keeps eight processes for a moment: within a limit of sixteen."""

import os
import time

children = []
for _ in range(8):
    pid = os.fork()
    if pid == 0:
        time.sleep(0.3)
        os._exit(0)
    children.append(pid)
print(sum(os.waitpid(pid, 0)[1] for pid in children))
