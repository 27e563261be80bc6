"""Waits without using CPU time."""

import time

print("asleep", flush=True)
time.sleep(60)
print("awake")
