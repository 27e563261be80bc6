"""Kills every process that it may.

rows: T2
guards: pid_namespace=survived
control: none, it would end the caller's processes
"""

import os
import signal

from kit import attempt


def kill():
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError:
        pass
    return "survived"


attempt(kill)
