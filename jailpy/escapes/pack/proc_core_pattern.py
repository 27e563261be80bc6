"""Opens the switch that names the program which the kernel runs as root when a process crashes.

rows: P5 P4
guards: proc=ENOENT landlock=EACCES user_namespace=EACCES
control: root
"""

import os

from kit import attempt

attempt(lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)))
