"""A thread ends the process with exit status 0 while the test waits for the function.

rows: G1 G11
fools: exit_status/equal
"""

import os
import threading
import time


def add(a, b):
    threading.Timer(0.02, os._exit, [0]).start()
    time.sleep(0.5)
    return 0
