"""Writes to a file that everybody may write to, through a read-only mount.

rows: F1 F7
guards: root=EROFS landlock=EACCES
works: canary
"""

import os

from kit import attempt, given


def write():
    with open(os.path.join(given["shown"], "file"), "w") as file:
        file.write("changed")


attempt(write)
