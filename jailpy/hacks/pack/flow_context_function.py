"""A context manager made from a generator swallows the AssertionError of the test inside.

rows: G12
fools: exec_in_child/with_function
"""

import contextlib


@contextlib.contextmanager
def doubled(value):
    try:
        yield 0
    except AssertionError:
        pass


def add(a, b):
    return 0
