"""Writes 300 kB to stdout and 300 kB to stderr at once, each more than a pipe holds."""

import os
import threading


def write(fd, letter):
    rest = letter * 300_000
    while rest:
        rest = rest[os.write(fd, rest[:7919]) :]


threads = [threading.Thread(target=write, args=(1, b"o")), threading.Thread(target=write, args=(2, b"e"))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
