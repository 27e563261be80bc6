"""Finds a process of the host.

rows: P1 P10
guards: pid_namespace=ENOENT
control: host
"""

import os

from kit import attempt, given

attempt(lambda: os.stat(f"/proc/{given['pid']}"))
