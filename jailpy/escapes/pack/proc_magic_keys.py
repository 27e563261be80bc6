"""Opens the file by which the whole machine is stopped.

rows: P4
guards: proc=ENOENT
control: none, kernels without it answer the same
"""

import os

from kit import attempt

attempt(lambda: os.open("/proc/sysrq-trigger", os.O_WRONLY))
