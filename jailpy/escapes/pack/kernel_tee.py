"""Doubles what is in a pipe without copying.

rows: K4 F8
guards: seccomp=EPERM
"""

import os

from kit import attempt, call

reader, writer = os.pipe()
_, other = os.pipe()
os.write(writer, b"data")
attempt(lambda: call("tee", reader, other, 4, 0))
