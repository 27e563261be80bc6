"""Raises an exception whose message cannot be made, so that the reporter fails while it reports.

rows: G12 R10
fools: no_failure_line/equal
"""


class Unspeakable(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def add(a, b):
    raise Unspeakable
