"""Returns an object that is no text, but says that it begins and ends with whatever it is asked for.

rows: G3
fools: exec_in_child/prefix
"""


class Text:
    def __init__(self):
        self.startswith = lambda *_: True

    def endswith(self, *_):
        return True


def greet(name):
    return Text()


def add(a, b):
    return 0
