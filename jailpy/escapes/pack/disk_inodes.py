"""Makes empty files without end.

rows: S2
guards: root=disk|ENOSPC
"""

import os

from kit import attempt


def make():
    for number in range(5000):
        os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))


attempt(make)
