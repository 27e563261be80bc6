"""A signal handler ends the process with exit status 0 while the test waits for the function.

rows: G1
fools: exit_status/equal
"""

import os
import signal
import time


def leave(*_):
    os._exit(0)


def add(a, b):
    signal.signal(signal.SIGALRM, leave)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    time.sleep(0.5)
    return 0
