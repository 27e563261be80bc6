"""Queues signals without end.

rows: T7
guards: rlimits=EAGAIN
"""

import os
import signal

from kit import attempt, checked, libc

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})


def queue():
    for _ in range(2000):
        checked(libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None))


attempt(queue)
