"""Makes a node for a disk.

rows: X4
guards: seccomp=EPERM landlock=EACCES capabilities=EPERM
control: root
"""

import os

from kit import attempt, call, given


def make():
    path = os.path.join(given["scratch"], "node")
    call("mknodat", -100, path.encode(), 0o60666, os.makedev(7, 0))
    os.unlink(path)


attempt(make)
