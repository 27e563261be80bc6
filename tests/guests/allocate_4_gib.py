"""Needs 4 GiB, every page of it touched, in pieces that no host refuses beforehand."""

print("allocating", flush=True)
data = [bytes([piece]) * (32 << 20) for piece in range(1, 129)]
print("allocated", sum(map(len, data)))
