"""Finds the terminal that the library was started from.

rows: X1 O6
guards: root=ENOENT
control: none, tests may run without a terminal
"""

import os

from kit import attempt

attempt(lambda: os.open("/dev/tty", os.O_RDWR) if not any(map(os.isatty, range(4))) else "worked")
