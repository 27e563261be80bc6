"""Needs 4 GiB, every page of it touched."""

print("allocating", flush=True)
data = b"x" * (4 << 30)
print("allocated", len(data))
