"""Raises its own limit on open files.

rows: M4
guards: user_namespace=EPERM
control: root
"""

import os
import struct

from kit import attempt, call

attempt(lambda: call("prlimit64", 0, 7, struct.pack("<2Q", 1 << 16, 1 << 16), None) if os.getuid() else "worked")
