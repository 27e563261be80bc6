"""Ends with exit code 3, after output on both streams."""

import sys

print("out")
print("err", file=sys.stderr)
sys.exit(3)
