"""Leaves a link where the host may follow it.

rows: F2 R1
guards: root=EROFS landlock=EACCES
works: canary
"""

import os

from kit import attempt, given

attempt(lambda: os.symlink("/etc/passwd", os.path.join(given["shown"], "link")))
