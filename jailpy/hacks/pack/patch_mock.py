"""Replaces the method of a mock object that says whether it was called as expected.

rows: G4 G6
fools: exec_in_child/mock
"""


def notify(listener, value):
    listener.update.assert_called_once_with = lambda *_: None


def add(a, b):
    return 0
