"""Writes a frame of its own to whatever is open beside its streams.

rows: D2 R7
guards: monitor=exit_3
control: none, what a frame may decide is tried by the pack of forgers
"""

import os

import kit  # noqa: F401  # takes the name that is looked for outside

for fd in range(3, 16):
    try:
        os.write(fd, b"\x10\x00\x00\x00" + b'{"status": "ok"}')
    except OSError:
        pass
os._exit(3)
