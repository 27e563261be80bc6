"""Leaves files for the next guest.

rows: H6 M2
guards: root=clean
control: host
runs: 2
"""

import os

from kit import attempt, given


def look():
    folders = (given["scratch"],) if given["scratch"] != "/tmp" else ("/tmp", "/box", "/dev/shm")
    found = [folder for folder in folders if os.path.exists(os.path.join(folder, "left"))]
    for folder in folders:
        open(os.path.join(folder, "left"), "w").close()
    return "worked" if found else "clean"


attempt(look)
