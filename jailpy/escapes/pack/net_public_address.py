"""Connects to a machine on the internet by its number.

rows: W1 W4
guards: seccomp=EAFNOSUPPORT landlock=EACCES|ENETUNREACH network_namespace=ENETUNREACH
control: none, a control would reach for other people's service
"""

import socket

from kit import attempt

attempt(lambda: socket.create_connection(("192.0.2.1", 443), 5))
