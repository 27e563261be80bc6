"""Leaves a process that ignores every signal it can.

rows: B3 T6
guards: pid_namespace=left
works: canary
control: host
"""

import os
import signal
import time

from kit import attempt

if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    for fd in range(3):
        os.close(fd)
    time.sleep(30)
    os._exit(0)
time.sleep(0.05)
attempt(lambda: "left")
