"""Kills whatever it may kill besides itself, and works on."""

import os
import signal
import time

try:
    os.kill(-1, signal.SIGKILL)
except ProcessLookupError:
    pass
time.sleep(0.3)
print("alone")
