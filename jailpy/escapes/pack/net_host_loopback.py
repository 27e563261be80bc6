"""Connects to a service on the host's loopback.

rows: W7
guards: seccomp=EAFNOSUPPORT landlock=EACCES|ENETUNREACH network_namespace=ENETUNREACH
works: canary
"""

import socket

from kit import attempt, given

attempt(lambda: socket.create_connection(("127.0.0.1", given["port"]), 5))
