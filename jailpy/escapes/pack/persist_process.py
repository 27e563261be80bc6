"""Leaves a process that the next guest finds.

rows: H6 B3
guards: pid_namespace=clean
control: none, the next guest would be in another namespace in any case
runs: 2
"""

import os
import time

from kit import attempt


def look():
    others = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid > 3]
    if os.fork() == 0:
        os.setsid()
        for fd in range(3):
            os.close(fd)
        time.sleep(30)
        os._exit(0)
    return "worked" if others else "clean"


attempt(look)
