"""Connects to a service of the host by a socket file that a mount shows.

rows: W9
guards: seccomp=EAFNOSUPPORT
works: canary
"""

import os
import socket

from kit import attempt, given

attempt(lambda: socket.socket(socket.AF_UNIX).connect(os.path.join(given["shown"], "socket")))
