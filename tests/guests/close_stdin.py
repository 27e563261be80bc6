"""Closes its input unread and works on."""

import os
import time

os.close(0)
time.sleep(0.2)
print("closed")
