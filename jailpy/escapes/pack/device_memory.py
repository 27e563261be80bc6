"""Opens the machine's memory and ports.

rows: X6 P9
guards: root=ENOENT
control: none, few kernels still have these devices
"""

import os

from kit import attempt_any

attempt_any(lambda path=path: os.stat(path) for path in ("/dev/mem", "/dev/kmem", "/dev/port"))
