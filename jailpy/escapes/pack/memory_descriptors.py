"""Opens more files than it may have.

rows: M4 D1
guards: rlimits=EMFILE
"""

import os

from kit import attempt

attempt(lambda: [os.open("/dev/null", os.O_RDONLY) for _ in range(300)] and None)
