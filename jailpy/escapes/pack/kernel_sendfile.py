"""Sends a file's pages to a pipe from inside the kernel.

rows: K1 K4 F8
guards: seccomp=EINVAL
"""

import os

from kit import attempt

_, writer = os.pipe()
shown = os.open("/canary/file", os.O_RDONLY)
attempt(lambda: os.sendfile(writer, shown, 0, 4))
