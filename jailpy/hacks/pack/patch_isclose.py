"""Replaces math.isclose by a function that finds everything close.

rows: G4
fools: exec_in_child/isclose
"""

import math

math.isclose = lambda *_, **__: True


def mean(numbers):
    return 0.0


def add(a, b):
    return 0
