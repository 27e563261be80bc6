"""Moves its root below an open folder and climbs from that past it, to where the old root was.

rows: F3
guards: seccomp=EPERM capabilities=EPERM root=ENOENT
control: root
"""

import os

from kit import attempt, call, given


def climb():
    below = os.path.join(given["scratch"], "below")
    os.makedirs(below, exist_ok=True)
    top = os.open("/", os.O_RDONLY)
    os.chdir("/")
    call("chroot", below.encode())
    os.fchdir(top)
    for _ in range(32):
        os.chdir("..")
    call("chroot", b".")
    os.rmdir(below)
    os.stat(given["hidden"])


attempt(climb)
