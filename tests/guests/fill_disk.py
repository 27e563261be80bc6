"""Writes to /tmp until nothing fits, and dies of that."""

with open("/tmp/big", "wb", buffering=0) as file:
    while True:
        file.write(b"x" * (1 << 20))
