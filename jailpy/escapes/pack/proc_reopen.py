"""Opens a descriptor a second time with more rights.

rows: P3
guards: root=EROFS landlock=EACCES
"""

import os

from kit import attempt, given

shown = os.open(os.path.join(given["shown"], "file"), os.O_RDONLY)
attempt(lambda: os.open(f"/proc/self/fd/{shown}", os.O_RDWR))
