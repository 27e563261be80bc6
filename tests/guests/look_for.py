"""Prints which of the paths on its stdin it can see."""

import os
import sys

for path in sys.stdin.read().splitlines():
    if os.path.lexists(path):
        print(path)
