"""Fills the list that the test passed in with items that equal everything.

rows: G3
fools: exec_in_child/inplace
"""


class Equal:
    def __eq__(self, other):
        return True


def order(numbers):
    numbers[:] = [Equal() for _ in numbers]


def add(a, b):
    return Equal()
