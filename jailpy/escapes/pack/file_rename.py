"""Renames a file in a folder that is shown to it.

rows: F1
guards: root=EROFS landlock=EACCES
works: canary
"""

import os

from kit import attempt, given

path = os.path.join(given["shown"], "file")
attempt(lambda: os.rename(path, path + "-moved"))
