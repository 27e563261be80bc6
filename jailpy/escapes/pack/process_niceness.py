"""Raises its own weight.

rows: T5
guards: user_namespace=EACCES
control: root
"""

import os

from kit import attempt

attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))
