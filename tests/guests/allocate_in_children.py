"""Needs 100 MiB in each of eight processes: none of them is over a limit that all together break."""

import os
import time

for _ in range(8):
    if os.fork() == 0:
        data = os.urandom(1 << 20) * 100
        time.sleep(60)
        os._exit(len(data) % 2)
time.sleep(60)
