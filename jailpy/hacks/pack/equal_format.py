"""Returns an object that is formatted as a text that equals everything.

rows: G3
fools: exec_in_child/formatted
"""


class Text(str):
    def __eq__(self, other):
        return True


class Number:
    def __format__(self, how):
        return Text("")


def mean(numbers):
    return Number()


def add(a, b):
    return Number()
