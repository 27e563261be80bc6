"""Writes to a named pipe of the host, which a read-only mount does not stop.

rows: F11
guards: landlock=EACCES
works: canary
"""

import os

from kit import attempt, given


def write():
    os.write(os.open(os.path.join(given["shown"], "pipe"), os.O_WRONLY | os.O_NONBLOCK), b"x")


attempt(write)
