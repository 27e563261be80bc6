"""Connects to a service of the host by a name that belongs to no file system.

rows: W8
guards: seccomp=EAFNOSUPPORT network_namespace=ECONNREFUSED landlock_scopes=EPERM
works: canary
"""

import socket

from kit import attempt, given

attempt(lambda: socket.socket(socket.AF_UNIX).connect("\0" + given["abstract"]))
