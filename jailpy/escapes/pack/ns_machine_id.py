"""Reads the number of this installation.

rows: I7
guards: root=ENOENT
control: none, not every host has one
"""

import os

from kit import attempt_any

attempt_any(lambda path=path: os.stat(path) for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"))
