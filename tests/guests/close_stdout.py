"""Closes stdout and goes on for a while."""

import os
import sys
import time

print("before", flush=True)
os.close(1)
time.sleep(0.3)
print("after", file=sys.stderr)
os._exit(7)
