"""Replaces the built-in abs, so that every distance is 0.

rows: G4
fools: exec_in_child/close exit_status/close
"""

import builtins

builtins.abs = lambda number: 0


def mean(numbers):
    return 0.0


def add(a, b):
    return 0
