"""Returns a list whose subclass tells other contents whenever it is asked, so that one of them may be the right one.

rows: G3 G13
fools: exec_in_child/member
"""


class Moody(list):
    def __len__(self):
        return 4

    def __contains__(self, item):
        return True

    def __iter__(self):
        return iter([1, 2, 3, 4, 5, 6])


def divisors(n):
    return Moody()


def add(a, b):
    return Moody()
