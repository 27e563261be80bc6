"""Empties a file without opening it.

rows: F1
guards: root=EROFS landlock=EACCES
works: canary
"""

import os

from kit import attempt, given

attempt(lambda: os.truncate(os.path.join(given["shown"], "file"), 0))
