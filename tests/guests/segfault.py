"""Dies by a signal of its own making."""

import os
import signal

print("before", flush=True)
os.kill(os.getpid(), signal.SIGSEGV)
