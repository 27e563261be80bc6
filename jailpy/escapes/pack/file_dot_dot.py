"""Climbs above its root by a long way of "..".

rows: F1 F3
guards: root=ENOENT
control: host
"""

import os

from kit import attempt, given

attempt(lambda: os.stat("/.." * 64 + given["hidden"]))
