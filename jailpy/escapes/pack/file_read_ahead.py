"""Pulls a shared file into memory.

rows: I6
guards: seccomp=ENOSYS
works: worked|EINVAL
"""

import os

from kit import attempt, call

shown = os.open("/canary/file", os.O_RDONLY)
attempt(lambda: call("readahead", shown, 0, 4096))
