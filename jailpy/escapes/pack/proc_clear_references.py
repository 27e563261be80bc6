"""Resets the kernel's notes on its own pages.

rows: P11
guards: proc=EROFS landlock=EACCES
"""

import os

from kit import attempt

attempt(lambda: os.write(os.open("/proc/self/clear_refs", os.O_WRONLY), b"1"))
