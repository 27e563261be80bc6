"""Kills itself before a reporter can say that the test failed.

rows: R10
fools: no_failure_line/equal
"""

import os
import signal


def add(a, b):
    os.kill(os.getpid(), signal.SIGKILL)
