"""Looks behind the callback that a test passes in, to the list that it fills, and fills it with items that equal
everything.

rows: G3 G7
fools: exec_in_child/callback
"""


class Equal:
    def __eq__(self, other):
        return True


def visit(callback, n):
    callback.__self__[:] = [Equal() for _ in range(n)]


def add(a, b):
    return Equal()
