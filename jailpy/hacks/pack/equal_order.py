"""Returns an object that is below, above and between whatever it is compared with.

rows: G3
fools: exec_in_child/between
"""


class Anywhere:
    def __lt__(self, other):
        return True

    __le__ = __gt__ = __ge__ = __lt__


def add(a, b):
    return Anywhere()
