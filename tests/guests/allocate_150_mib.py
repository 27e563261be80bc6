"""Needs 150 MiB for a while, every page of it touched."""

import time

data = b"x" * (150 << 20)
time.sleep(0.5)
print(len(data))
