"""Looks for the folders where hosts keep data, logs, kernels and sockets.

rows: F1 W9
guards: root=ENOENT
control: host
"""

import os

from kit import attempt_any

attempt_any(lambda path=path: os.stat(path) for path in ("/root", "/home", "/var", "/run", "/boot", "/srv", "/mnt", "/opt"))
