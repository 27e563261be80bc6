"""Writes a little to every folder that it may write to, until the sum is too much.

rows: S1 M2
guards: root=disk|ENOSPC
"""

from kit import attempt


def write():
    for number in range(10):
        for folder in ("/tmp", "/box", "/dev/shm"):
            with open(f"{folder}/{number}", "wb", 0) as file:
                file.write(bytes(1 << 20))


attempt(write)
