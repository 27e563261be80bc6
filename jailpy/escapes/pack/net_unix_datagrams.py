"""Opens a pair of datagram sockets, one of which can be turned towards any socket file.

rows: W10
guards: seccomp=EAFNOSUPPORT
works: canary
"""

import os
import socket

from kit import attempt, given


def turn():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", os.path.join(given["shown"], "datagrams"))


attempt(turn)
