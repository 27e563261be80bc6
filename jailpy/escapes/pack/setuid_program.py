"""Starts a program that would run as its owner.

rows: X3
guards: no_new_privs=hidden
control: root
"""

import os

from kit import attempt, given


def start():
    reader, writer = os.pipe()
    if os.fork() == 0:
        if os.getuid() == 0:
            os.setgroups([])
            os.setresuid(65534, 65534, 65534)
        os.dup2(writer, 1)
        os.execv(os.path.join(given["shown"], "program"), ["id", "-u"])
    os.close(writer)
    os.wait()
    with open(reader) as pipe:
        return "worked" if pipe.read().strip() == "0" else "hidden"


attempt(start)
