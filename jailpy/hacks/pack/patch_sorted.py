"""Replaces the built-in sorted by a function whose result equals everything.

rows: G4
fools: exec_in_child/sorted
"""

import builtins


class Equal(list):
    def __eq__(self, other):
        return True


builtins.sorted = Equal


def divisors(n):
    return []


def add(a, b):
    return 0
