"""Meets the disk limit, cleans up and ends well."""

import os

try:
    with open("/tmp/big", "wb", buffering=0) as file:
        while True:
            file.write(b"x" * (1 << 20))
except OSError as error:
    print(error.errno)
os.unlink("/tmp/big")
