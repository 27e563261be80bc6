"""Makes a shown file setuid.

rows: F1 X3
guards: root=EROFS separate_uid=EPERM
works: canary
control: host
"""

import os

from kit import attempt, given

attempt(lambda: os.chmod(os.path.join(given["shown"], "file"), 0o4777))
