"""Returns a plain list whose items equal everything: only who looks inside can tell.

rows: G3
fools: exec_in_child/list exec_in_child/sorted
"""


class Equal:
    def __eq__(self, other):
        return True

    def __lt__(self, other):
        return False


def divisors(n):
    return [Equal(), Equal(), Equal(), Equal()]


def add(a, b):
    return [Equal()]
