"""Writes more than it may.

rows: S1 S3
guards: root=disk|ENOSPC
"""

from kit import attempt


def write():
    for number in range(30):
        with open(f"/tmp/{number}", "wb", 0) as file:
            file.write(bytes(1 << 20))


attempt(write)
