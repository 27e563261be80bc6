"""Leaves a .pth file in a folder of modules, which every interpreter runs that starts later.

rows: H1
guards: root=EROFS landlock=EACCES
works: canary
"""

import os

from kit import attempt, given


def plant():
    with open(os.path.join(given["shown"], "planted.pth"), "w") as file:
        file.write("import sys\n")


attempt(plant)
