"""Writes 10 GiB to stdout."""

import os

chunk = b"0123456789abcdef" * 4096
for _ in range((10 << 30) // len(chunk)):
    rest = chunk
    while rest:
        rest = rest[os.write(1, rest) :]
