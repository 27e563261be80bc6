"""Gives one end of a pair of sockets a name, under which others reach it.

rows: W11
guards: seccomp=EPERM
"""

import socket

from kit import attempt, given

one, _ = socket.socketpair()
attempt(lambda: one.bind("\0" + given["name"]))
