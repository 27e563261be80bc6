"""Leaves a process in a session of its own, which outlives its parent.

rows: B3
guards: pid_namespace=left
works: canary
control: host
"""

import os
import time

from kit import attempt

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3):
            os.close(fd)
        time.sleep(30)
    os._exit(0)
os.wait()  # for its parent, which has left it by then
attempt(lambda: "left")
