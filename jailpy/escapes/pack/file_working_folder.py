"""Climbs from the folder that it started in, in case that lies outside of its root.

rows: F4
guards: root=ENOENT
control: host
"""

import os

from kit import attempt, given

attempt(lambda: os.stat("/proc/self/cwd" + "/.." * 32 + given["hidden"]))
