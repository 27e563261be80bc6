"""Makes a device node of its own, for a device that its root leaves out.

rows: X4
guards: seccomp=EPERM landlock=EACCES capabilities=EPERM
works: worked
control: root
"""

import os

from kit import attempt, call, given


def make():
    path = os.path.join(given["scratch"], "node")
    call("mknodat", -100, path.encode(), 0o20666, os.makedev(1, 5))
    os.unlink(path)


attempt(make)
