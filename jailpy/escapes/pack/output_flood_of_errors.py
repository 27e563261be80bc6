"""Prints more than it may to the other stream.

rows: O1
guards: monitor=output
"""

import sys

from kit import attempt

for _ in range(32):
    print("x" * (1 << 16), file=sys.stderr)
attempt(lambda: "worked")
