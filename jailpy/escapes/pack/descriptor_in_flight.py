"""Keeps descriptors in sockets, where no process's table counts them.

rows: M4 D3
guards: rlimits=ETOOMANYREFS
"""

import socket

from kit import attempt

one, other = socket.socketpair()


def send():
    for _ in range(40):
        socket.send_fds(one, [b"x"], [0] * 10)


attempt(send)
