"""Leaves a child behind that holds the pipe open, and prints a report of its own when the driver has ended.

rows: O8 R7
fools: report_line/equal
"""

import os
import time

parent = os.getpid()
if os.fork() == 0:
    for _ in range(200):
        if os.getppid() != parent:
            break
        time.sleep(0.01)
    print("RESULT 1 of 1", flush=True)
    os._exit(0)


def add(a, b):
    return 0
