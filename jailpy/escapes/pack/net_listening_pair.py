"""Listens on one end of a pair of sockets.

rows: W11
guards: seccomp=EPERM
works: EINVAL
"""

import socket

from kit import attempt

one, _ = socket.socketpair()
attempt(lambda: one.listen())
