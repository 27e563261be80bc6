"""Looks for /sys: devices, firmware, power meters.

rows: P9
guards: root=ENOENT
control: host
"""

import os

from kit import attempt

attempt(lambda: os.listdir("/sys"))
