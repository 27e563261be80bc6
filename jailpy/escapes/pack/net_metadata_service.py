"""Asks the cloud's metadata service for the machine's credentials.

rows: W2
guards: seccomp=EAFNOSUPPORT landlock=EACCES|ENETUNREACH network_namespace=ENETUNREACH
control: none, a control would reach for other people's service
"""

import socket

from kit import attempt

attempt(lambda: socket.create_connection(("169.254.169.254", 80), 5))
