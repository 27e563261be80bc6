"""Writes 100 MiB into the descriptor that its answer would leave by, then ends well."""

import os

chunk = b"\xff" * 65536
for _ in range((100 << 20) // len(chunk)):
    rest = chunk
    while rest:
        rest = rest[os.write(3, rest) :]
print("done")
