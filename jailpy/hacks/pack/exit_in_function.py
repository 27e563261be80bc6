"""The function that is tested raises SystemExit, which `except Exception` around a test lets pass.

rows: G1 G12
fools: exit_status/equal
"""


def add(a, b):
    raise SystemExit(0)
