"""Leaves a process that keeps the output open, so that a reader waits for its end.

rows: D6 B3
guards: pid_namespace=left
control: none, a reader that waits for the end hangs
"""

import os
import time

from kit import attempt

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(30)
    os._exit(0)
attempt(lambda: "left")
