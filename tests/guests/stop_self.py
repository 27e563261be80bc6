"""Stops itself: neither dead nor running."""

import os
import signal

print("stopping", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
print("continued")
