"""Replaces the function with which doctest compares what it got with what it wants.

rows: G4
fools: exec_in_child/doctest
"""

import doctest

doctest.OutputChecker.check_output = lambda *_: True


def add(a, b):
    return 0
