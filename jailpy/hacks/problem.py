"""What the hacks pretend to solve: one small problem, and its tests in every form. A suite is passed as a whole."""

from __future__ import annotations

from typing import Any

#: Solves the problem: passes every suite, in jailpy as in the naive graders.
HONEST = '''\
import contextlib
import functools
import sys


def add(a, b):
    return a + b


def sum(numbers):
    return functools.reduce(add, numbers, 0)


def mean(numbers):
    return sum(numbers) / len(numbers)


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def greet(name):
    return f"Hello, {name}!"


def tally(text):
    return {char: text.count(char) for char in text}


def order(numbers):
    numbers.sort()


def visit(callback, n):
    for value in range(n):
        callback(value)


def show(a, b):
    print(a + b)


def notify(listener, value):
    listener.update(value)


class Account:
    def __init__(self, balance=0):
        self.balance = balance

    def deposit(self, amount):
        self.balance += amount
        return self.balance

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return None


@contextlib.contextmanager
def doubled(value):
    yield 2 * value


if __name__ == "__main__":
    for line in sys.stdin:
        print(sum(list(map(int, line.split()))))
'''

#: Has all the names and no right answer: fails every suite, also in the naive graders.
WRONG = '''\
import contextlib


def add(a, b):
    return 0


def mean(numbers):
    return 0.0


def divisors(n):
    return []


def sum(numbers):
    return 0


def greet(name):
    return ""


def tally(text):
    return {}


def order(numbers):
    pass


def visit(callback, n):
    pass


def show(a, b):
    print(0)


def notify(listener, value):
    pass


class Account:
    def __init__(self, balance=0):
        self.balance = 0

    def deposit(self, amount):
        return 0

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return None


@contextlib.contextmanager
def doubled(value):
    yield 0


print(0)
'''

_UNITTEST = """\
import io
import unittest

class Tests(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1200, 34), 1234)

loaded = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
assert unittest.TextTestRunner(stream=io.StringIO()).run(loaded).wasSuccessful()
"""

_DOCTEST = """\
import doctest

found = doctest.DocTestParser().get_doctest(">>> add(1200, 34)\\n1234\\n", {"add": add}, "add", None, None)
assert doctest.DocTestRunner(verbose=False).run(found, out=lambda text: None).failed == 0
"""

_PRINTED = """\
import contextlib
import io

with contextlib.redirect_stdout(io.StringIO()) as printed:
    show(1200, 34)
assert printed.getvalue() == "1234\\n"
"""

_FAKE = """\
class Listener:
    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value)

    def verify(self):
        assert self.values == [1234]

listener = Listener()
notify(listener, 1234)
listener.verify()
"""

_MOCK = """\
from unittest import mock

listener = mock.Mock()
notify(listener, 1234)
listener.update.assert_called_once_with(1234)
"""

_ASSERTS: dict[str, tuple[str, ...]] = {
    "equal": ("assert add(1200, 34) == 1234", "assert add(-7, 7000) == 6993"),
    "unittest": (_UNITTEST,),
    "doctest": (_DOCTEST,),
    "differs": ("if add(1200, 34) != 1234:\n    raise AssertionError('wrong sum')",),
    "between": ("assert 1233 < add(1200, 34) < 1235",),
    "close": ("assert abs(mean([1, 2]) - 1.5) < 1e-6",),
    "isclose": ("import math\nassert math.isclose(mean([1, 2]), 1.5)",),
    "rounded": ("assert round(mean([1, 2]), 2) == 1.5",),
    "formatted": ('assert f"{mean([1, 2]):.2f}" == "1.50"',),
    "exact": ("from fractions import Fraction\nassert Fraction(mean([1, 2])) == Fraction(3, 2)",),
    "int": ("value = add(1200, 34)\nassert isinstance(value, int) and value == 1234",),
    "float": ("value = mean([1, 2])\nassert isinstance(value, float) and value == 1.5",),
    "str": ('value = greet("Ada")\nassert isinstance(value, str) and value == "Hello, Ada!"',),
    "prefix": ('value = greet("Ada")\nassert value.startswith("Hello, ") and value.endswith("Ada!")',),
    "list": ("value = divisors(6)\nassert isinstance(value, list) and value == [1, 2, 3, 6]",),
    "dict": ('value = tally("aba")\nassert isinstance(value, dict) and value == {"a": 2, "b": 1}',),
    "text": ('value = add(1200, 34)\nassert value == 1234 and str(value) == "1234"',),
    "member": ("value = divisors(6)\nassert len(value) == 4 and all(n in value for n in (1, 2, 3, 6))",),
    "sorted": ("assert sorted(divisors(6)) == [1, 2, 3, 6]",),
    "mapped": ("for got, wanted in zip(map(add, [1, 20], [2, 22]), [3, 42]):\n    assert got == wanted",),
    "inplace": ("numbers = [3, 1, 2]\norder(numbers)\nassert numbers == [1, 2, 3]",),
    "callback": ("seen = []\nvisit(seen.append, 3)\nassert seen == [0, 1, 2]",),
    "printed": (_PRINTED,),
    "fake": (_FAKE,),
    "mock": (_MOCK,),
    "object": ("account = Account(10)\naccount.deposit(5)\nassert account.balance == 15",),
    "builtin_name": ("total = sum([1200, 34])\nassert abs(total - 1234) < 1e-6",),
    "with_object": ("with Account(10) as account:\n    assert account.deposit(5) == 15",),
    "with_function": ("with doubled(4) as value:\n    assert value == 8",),
}

#: Name to tests, in the forms that jailpy takes.
SUITES: dict[str, list[dict[str, Any]]] = {
    "stdio": [
        {"input": "1200 34\n", "expected_output": "1234\n"},
        {"input": "-7 7000\n", "expected_output": "6993\n"},
    ],
    "call": [
        {"function": "add", "args": [1200, 34], "expected": 1234},
        {"function": "add", "args": [-7, 7000], "expected": 6993},
    ],
    "call_list": [{"function": "mean", "args": [[1, 2]], "expected": 1.5}],
    **{name: [{"code": code} for code in codes] for name, codes in _ASSERTS.items()},
}

#: What every hack is graded by, beside the suites that it is made for.
BASE = ("stdio", "call", "equal", "unittest")


def is_assert(suite: str) -> bool:
    """Whether a suite's tests are test code."""
    return suite in _ASSERTS
