"""Sends a byte out of band, whose queue was freed too early more than once.

rows: K11
guards: seccomp=EOPNOTSUPP
works: worked|EOPNOTSUPP
control: none, not every kernel has it for these sockets
"""

import socket

from kit import attempt

one, _ = socket.socketpair()
attempt(lambda: one.send(b"x", socket.MSG_OOB))
