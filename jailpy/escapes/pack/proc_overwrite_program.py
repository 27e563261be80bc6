"""Opens a program for writing by its descriptor, as was done to a container's runtime.

rows: P2
guards: root=EROFS landlock=EACCES
"""

import os

from kit import attempt, given

program = os.open(os.path.join(given["shown"], "program"), os.O_PATH)
attempt(lambda: os.open(f"/proc/self/fd/{program}", os.O_WRONLY))
