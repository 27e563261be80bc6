"""Kills its parent.

rows: T2
guards: pid_namespace=survived
control: none, it would end the tests
"""

import os
import signal

from kit import attempt


def kill():
    parent = os.getppid()
    if parent > 0:
        try:
            os.kill(parent, signal.SIGKILL)
        except OSError:
            pass
    return "survived"


attempt(kill)
