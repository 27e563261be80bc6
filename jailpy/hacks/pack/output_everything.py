"""Prints every number there is, the answer among them.

rows: O1 O7
fools: stdio_substring/stdio
"""

print(*range(10_000))


def add(a, b):
    return 0
