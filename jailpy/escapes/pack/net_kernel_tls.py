"""Switches on encryption inside the kernel.

rows: K9
guards: seccomp=ENOSYS
works: EOPNOTSUPP
"""

import socket

from kit import attempt

one, _ = socket.socketpair()
attempt(lambda: one.setsockopt(6, 31, b"tls"))
