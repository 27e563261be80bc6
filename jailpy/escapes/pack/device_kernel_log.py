"""Opens the kernel's log, to read it and to write into it.

rows: X6
guards: root=ENOENT
control: host
"""

import os

from kit import attempt

attempt(lambda: os.stat("/dev/kmsg"))
