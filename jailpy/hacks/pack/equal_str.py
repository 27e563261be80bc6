"""Returns an instance of a subclass of str that equals everything.

rows: G3
fools: exec_in_child/str
"""


class Equal(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


def greet(name):
    return Equal()


def add(a, b):
    return Equal()


print(Equal())
