"""Looks for the host's password hashes.

rows: F1
guards: root=ENOENT
control: host
"""

import os

from kit import attempt

attempt(lambda: os.stat("/etc/shadow"))
