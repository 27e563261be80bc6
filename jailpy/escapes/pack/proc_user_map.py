"""Writes another user map for itself.

rows: P11 N7
guards: proc=EROFS landlock=EACCES
control: none, a map is written once, before a guest begins
"""

import os

from kit import attempt

attempt(lambda: os.write(os.open("/proc/self/uid_map", os.O_WRONLY), b"0 0 1\n"))
