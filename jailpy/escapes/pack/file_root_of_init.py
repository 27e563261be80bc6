"""Goes to the host's root by way of process 1, whose root that may be.

rows: F1
guards: proc=ENOENT|EACCES|EPERM
control: host
"""

import os

from kit import attempt, given

attempt(lambda: os.stat(f"/proc/{given['init']}/root{given['hidden']}"))
