"""Floods the log, so that the failure is behind the part that is read.

rows: O1 O8 R8
fools: no_failure_line/equal
"""

print("ok\n" * 100_000, flush=True)


def add(a, b):
    return 0
