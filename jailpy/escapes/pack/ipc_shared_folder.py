"""Finds what another program left in the folder for shared memory.

rows: I5
guards: root=ENOENT
control: host
"""

import os

from kit import attempt, given

attempt(lambda: os.stat(given["shared"]))
