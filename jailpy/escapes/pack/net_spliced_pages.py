"""Sends pages of a file without copying them.

rows: K4 F8
guards: seccomp=EOPNOTSUPP
"""

import socket

from kit import attempt

one, _ = socket.socketpair()
attempt(lambda: one.send(b"x", 0x8000000))
