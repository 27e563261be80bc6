"""Makes a folder in the root, between the mounts.

rows: F1
guards: root=EROFS
control: none, on the host it would harm it
"""

import os

from kit import attempt_any

attempt_any(lambda path=path: os.mkdir(path) for path in ("/planted", "/dev/planted"))
