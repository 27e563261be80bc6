"""Prints more than it may.

rows: O1 O2
guards: monitor=output
"""

from kit import attempt

for _ in range(32):
    print("x" * (1 << 16))
attempt(lambda: "worked")
