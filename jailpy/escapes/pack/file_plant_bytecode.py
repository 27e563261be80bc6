"""Leaves compiled code beside shown sources.

rows: H2
guards: root=EROFS landlock=EACCES
works: canary
"""

import os

from kit import attempt, given

attempt(lambda: os.mkdir(os.path.join(given["shown"], "__pycache__")))
