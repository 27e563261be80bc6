"""Removes a file from a folder that is shown to it.

rows: F1
guards: root=EROFS landlock=EACCES
works: canary
"""

import os

from kit import attempt, given

attempt(lambda: os.unlink(os.path.join(given["shown"], "file")))
