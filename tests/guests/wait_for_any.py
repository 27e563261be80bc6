"""Waits for any child, of which it has none of its own making."""

import os

try:
    print(os.waitpid(-1, 0))
except ChildProcessError:
    print("no children")
