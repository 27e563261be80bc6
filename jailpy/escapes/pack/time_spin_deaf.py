"""Computes while it catches and blocks every signal that could tell it to stop.

rows: C2 C4 C5
guards: monitor=cpu_time
limits: cpu_s=0.5
"""

import signal
import time

from kit import attempt

signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, 65)))
signal.signal(signal.SIGXCPU, lambda *_: None)
signal.alarm(0)
while time.process_time() < 1:
    try:
        time.process_time()
    except BaseException:
        pass
attempt(lambda: "worked")
