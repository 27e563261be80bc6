"""Returns a class, whose metaclass says that it equals everything.

rows: G3
fools: call_in_process/call exec_in_child/equal
"""


class Meta(type):
    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__


class Equal(metaclass=Meta):
    pass


def add(a, b):
    return Equal
