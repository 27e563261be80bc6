"""Sends a descriptor with its result, for a reader that keeps it.

rows: D3
guards: monitor=done
control: none, the reader asks for no descriptors
"""

import os
import socket

from kit import attempt

for fd in range(3, 16):
    try:
        socket.send_fds(socket.socket(fileno=os.dup(fd)), [b"x"], [0])
    except OSError:
        pass
attempt(lambda: "done")
