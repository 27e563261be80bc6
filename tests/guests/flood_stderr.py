"""Writes 10 GiB to stderr, after one line on stdout."""

import os

os.write(1, b"first\n")
chunk = b"e" * 65536
for _ in range((10 << 30) // len(chunk)):
    rest = chunk
    while rest:
        rest = rest[os.write(2, rest) :]
