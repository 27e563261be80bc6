"""Asks for a signal when others change a folder.

rows: F13 I3
guards: seccomp=ENOSYS
"""

import fcntl
import os

from kit import attempt

folder = os.open("/canary", os.O_RDONLY)
attempt(lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_MODIFY))
