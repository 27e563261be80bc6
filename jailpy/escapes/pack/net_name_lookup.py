"""Looks up a name, into which data can be put.

rows: W3
guards: seccomp=unknown
control: none, a control would ask other people's servers
"""

import socket

from kit import attempt


def look_up():
    try:
        socket.getaddrinfo("data.in.a.name.example", 80)
    except socket.gaierror:
        return "unknown"


attempt(look_up)
