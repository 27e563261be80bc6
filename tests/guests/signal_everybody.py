"""Sends signals to all that it can name; prints which pids took one."""

import os
import signal

took = []
for pid in [*range(1, 400), os.getppid()]:
    if pid == os.getpid():
        continue
    try:
        os.kill(pid, signal.SIGUSR2 if pid == 1 else 0)
        took.append(pid)
    except OSError:
        pass
print(took)
