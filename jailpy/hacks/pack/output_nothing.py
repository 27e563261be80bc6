"""Prints nothing, of which every line is right.

rows: O8 G13
fools: stdio_zip/stdio
"""


def add(a, b):
    return None
