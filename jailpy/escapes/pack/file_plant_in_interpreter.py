"""Writes into the folders of its interpreter and of jailpy's own code.

rows: H1 H2
guards: root=EROFS
control: none, on the host it would harm it
"""

import os

from kit import attempt_any

folders = ["/jailpy", os.path.dirname(os.__file__), "/usr/lib", "/usr/bin", "/etc"]
attempt_any(lambda path=path: os.mkdir(os.path.join(path, "planted")) for path in folders)
