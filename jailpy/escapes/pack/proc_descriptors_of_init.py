"""Lists the open files of process 1, to open them again.

rows: P1 P3
guards: proc=ENOENT|EACCES
control: host
"""

import os

from kit import attempt, given

attempt(lambda: os.listdir(f"/proc/{given['init']}/fd"))
