"""Moves pages of a file that others read into a pipe, without copying.

rows: K1 K4 K5 F8
guards: seccomp=EPERM
"""

import os

from kit import attempt, call

_, writer = os.pipe()
shown = os.open("/canary/file", os.O_RDONLY)
attempt(lambda: call("splice", shown, None, writer, None, 4, 0))
