"""Announces a frame of four gibibytes.

rows: R8
guards: monitor=exit_3|output
control: none, a reader that believes it runs out of memory
"""

import os

import kit  # noqa: F401  # takes the name that is looked for outside

for fd in range(3, 16):
    try:
        os.write(fd, b"\xff\xff\xff\xff" * 64)
    except OSError:
        pass
os._exit(3)
