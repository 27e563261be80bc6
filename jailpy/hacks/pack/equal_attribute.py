"""Has no method and no attribute of the class that is asked for, but makes up each one when it is looked up.

rows: G3
fools: exec_in_child/object exec_in_child/with_object
"""


class Account:
    def __init__(self, *_):
        pass

    def __getattr__(self, name):
        return self

    def __call__(self, *_):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __eq__(self, other):
        return True


def add(a, b):
    return Account()
