"""Opens a terminal of the host.

rows: X6 X1
guards: root=ENOENT
control: host
"""

import os

from kit import attempt_any

attempt_any(lambda path=path: os.stat(path) for path in ("/dev/tty", "/dev/ptmx", "/dev/console", "/dev/tty1"))
