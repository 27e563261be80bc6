"""Leaves folders a thousand deep, with names that are no text.

rows: S5 F9
guards: root=made
control: none, it would be left to be removed
"""

import os

from kit import attempt


def make():
    os.chdir("/tmp")
    for _ in range(1000):
        os.mkdir(b"\xff\xfe\n")
        os.chdir(b"\xff\xfe\n")
    return "made"


attempt(make)
