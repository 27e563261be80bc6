"""Signals the process groups and sessions of low numbers.

rows: T2
guards: pid_namespace=survived
control: none, it would end the caller's processes
"""

import os
import signal

from kit import attempt


def kill():
    for group in range(2, 400):
        if group != os.getpgrp():
            try:
                os.killpg(group, signal.SIGKILL)
            except OSError:
                pass
    return "survived"


attempt(kill)
