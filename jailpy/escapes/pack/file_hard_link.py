"""Gives a shown file a second name where it may write.

rows: F7
guards: root=EXDEV
works: canary
control: host
"""

import os

from kit import attempt, given

attempt(lambda: os.link(os.path.join(given["shown"], "file"), os.path.join(given["scratch"], "linked")))
