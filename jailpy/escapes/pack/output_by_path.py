"""Opens its output by a path and throws away what was written.

rows: D4
guards: monitor=done
control: none, a pipe has nothing that could be thrown away
"""

import os

from kit import attempt

try:
    os.truncate("/proc/self/fd/1", 0)
except OSError:
    pass
attempt(lambda: "done")
