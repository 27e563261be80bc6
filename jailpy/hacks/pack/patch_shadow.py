"""Defines a function by the name of a built-in, in the namespace that it shares with the test.

rows: G4
fools: exec_in_child/close exit_status/close
"""


def abs(number):
    return 0


def mean(numbers):
    return 0.0


def add(a, b):
    return 0
