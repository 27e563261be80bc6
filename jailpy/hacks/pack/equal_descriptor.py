"""An attribute of its objects is a descriptor that gives the test an object that equals everything.

rows: G3
fools: exec_in_child/object
"""


class Equal:
    def __eq__(self, other):
        return True


class Balance:
    def __get__(self, instance, owner):
        return Equal()

    def __set__(self, instance, value):
        pass


class Account:
    balance = Balance()

    def __init__(self, balance=0):
        pass

    def deposit(self, amount):
        pass


def add(a, b):
    return Equal()
