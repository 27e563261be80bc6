"""Looks for the cgroup files, to raise its own limits.

rows: P8 N8
guards: root=ENOENT
control: host
"""

import os

from kit import attempt

attempt(lambda: os.listdir("/sys/fs/cgroup"))
