"""Honest programs that do what a hack does, for its own sake: what stops the hack must not fail them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jailpy import Jail, Policy, Verdict, hacks
from jailpy.roots import GUEST_CODE

IGNORING = """
import contextlib

@contextlib.contextmanager
def ignoring(*kinds):
    log = []
    try:
        yield log
    except kinds as error:
        log.append(type(error).__name__)

class Ignoring:
    def __init__(self, *kinds):
        self.kinds, self.seen = kinds, 0
    def __enter__(self):
        return self
    def __exit__(self, kind, error, traceback):
        self.seen += 1
        return kind is not None and issubclass(kind, self.kinds)

def fail_with(kind):
    raise kind("as told")
"""

ITERATING = """
class Countdown:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        if not self.n:
            raise StopIteration
        self.n -= 1
        return self.n + 1

def countdown(n):
    return Countdown(n)

def step(iterator):
    return next(iterator)
"""

CONTAINER = """
class Node:
    def __init__(self, value, rest):
        self.value, self.rest = value, rest

class Chain:
    def __init__(self, values):
        self.first = None
        for value in reversed(values):
            self.first = Node(value, self.first)
    def push(self, value):
        self.first = Node(value, self.first)
    def __iter__(self):
        node = self.first
        while node:
            yield node.value
            node = node.rest
    def __len__(self):
        return sum(1 for _ in self)

class Names(list):
    pass

class Index(dict):
    pass

def chain(*values):
    return Chain(values)

def names(*values):
    return Names(values)

def index(**values):
    return Index(values)
"""

TRIE = """
class Trie:
    def __init__(self):
        self.words = []
    def add(self, word):
        self.words.append(word)
    def startswith(self, prefix):
        return any(word.startswith(prefix) for word in self.words)

class Upper(str):
    def shout(self):
        return self + "!"

def upper(text):
    return Upper(text.upper())
"""

NOTIFYING = """
def notify(listener, value):
    listener.update(value)

def ask(source, key):
    return source.get(key) + 1

def note(thing, value):
    thing.value = value
"""
MOCK = "from unittest import mock\nm = mock.Mock()\n"

SHADOWING = """
def sum(numbers):
    total = 0
    for number in numbers:
        total += number
    return total
"""


@pytest.fixture(scope="module")
def jail(policy: Policy) -> Iterator[Jail]:
    with Jail(policy) as opened:
        yield opened


@pytest.mark.parametrize(
    ("program", "test"),
    [
        (IGNORING, "with ignoring(ValueError) as log:\n    raise ValueError('x')\nassert log == ['ValueError']"),
        (IGNORING, "with ignoring(ZeroDivisionError) as log:\n    1 / 0\nassert log == ['ZeroDivisionError']"),
        (IGNORING, "with Ignoring(KeyError) as it:\n    fail_with(KeyError)\nassert it.seen == 1"),
        (IGNORING, "with Ignoring(KeyError) as it:\n    assert it.seen == 0\n    {}['x']\nassert it.seen == 1"),
        (IGNORING, "with Ignoring(AssertionError):\n    fail_with(AssertionError)\nassert True"),
        (
            IGNORING,
            "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n"
            "    with Ignoring(KeyError):\n        raise KeyError\n"
            "    print('after')\n    assert out.getvalue() == 'after\\n'",
        ),
        (
            IGNORING,
            "try:\n    with Ignoring(KeyError):\n        raise ValueError\nexcept ValueError:\n    pass\n"
            "else:\n    raise AssertionError('swallowed')",
        ),
        (ITERATING, "assert list(Countdown(3)) == [3, 2, 1] and list(countdown(2)) == [2, 1]"),
        (ITERATING, "assert next(countdown(0), None) is None and list(zip(countdown(2), 'abc')) == [(2, 'a'), (1, 'b')]"),
        (ITERATING, "try:\n    step(countdown(0))\nexcept StopIteration:\n    pass\nelse:\n    raise AssertionError"),
        (CONTAINER, "c = chain(1, 2, 3)\nassert len(c) == 3 and 2 in c and 9 not in c and list(c) == [1, 2, 3]"),
        (CONTAINER, "c = chain(1)\nassert len(c) == 1\nc.push(5)\nassert len(c) == 2 and 5 in c and list(c) == [5, 1]"),
        (CONTAINER, "c = Chain([1])\nc.push(5)\nassert len(c) == 2 and 5 in c and sorted(c) == [1, 5]"),
        (CONTAINER, "n = names('a', 'b')\nassert len(n) == 2 and 'a' in n and n == ['a', 'b'] and [*n] == ['a', 'b']"),
        (CONTAINER, "n = names('a')\nn.append('b')\nassert len(n) == 2 and list(reversed(n)) == ['b', 'a']"),
        (CONTAINER, "i = index(a=1)\ni['b'] = 2\nassert len(i) == 2 and 'b' in i and sorted(i) == ['a', 'b']"),
        (TRIE, "t = Trie()\nt.add('abc')\nassert t.startswith('ab') and not t.startswith('b')"),
        (TRIE, "s = upper('abc')\nassert s.startswith('AB') and s == 'ABC' and s.shout() == 'ABC!'"),
        (NOTIFYING, f"{MOCK}notify(m, 5)\nm.update.assert_called_once_with(5)"),
        (NOTIFYING, f"{MOCK}m.get.return_value = 4\nassert ask(m, 5) == 5\nm.get.assert_called_with(5)"),
        (NOTIFYING, "class A:\n    value = None\na = A()\nnote(a, 3)\nassert a.value == 3"),
        (SHADOWING, "total = sum([1.5, 2])\nassert abs(total - 3.5) < 1e-9"),
        (SHADOWING, "assert abs(sum([1, 2]) - 3) < 1e-9 and max(sum([1]), 0) == 1"),
    ],
)
def test_an_honest_twin_passes(jail: Jail, program: str, test: str) -> None:
    beside = jail.grade(program, [test], in_process=True)
    assert beside.verdict is Verdict.PASSED, beside.outcomes
    grade = jail.grade(program, [test])
    assert grade.verdict is Verdict.PASSED, grade.outcomes


PRICES = """
class Price:
    def __init__(self, amount):
        self.amount = amount

def price(amount):
    return Price(amount)
"""
ADDING = PRICES + "\nPrice.__add__ = Price.__lt__ = lambda self, other: self\n"
REFUSED = "try:\n    price(10) + 5\nexcept TypeError:\n    pass\nelse:\n    raise AssertionError('it adds')"


def test_only_the_program_s_own_refusal_is_one(jail: Jail) -> None:
    assert jail.grade(PRICES, [REFUSED]).verdict is Verdict.PASSED
    assert jail.grade(ADDING, [REFUSED], in_process=True).verdict is Verdict.WRONG_ANSWER
    refused = jail.grade(ADDING, [REFUSED])
    assert refused.verdict is Verdict.RUNTIME_ERROR
    assert "only a plain value will do" in refused.outcomes[0].reason


RUN_ONE = """
import io
import unittest

class Tests(unittest.TestCase):
    def test_nothing(self):
        pass

loaded = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
assert unittest.TextTestRunner(stream=io.StringIO()).run(loaded).wasSuccessful()
assert add(1, 2) == 3
"""
EXITS_WHEN_IMPORTED = "import types\ndef add(a, b):\n    return types.ModuleType('unittest.__main__')"
PUBLIC = "the test code's objects can be called and their public attributes used, no more"
CHECKED_MOCK = f"{MOCK}notify(m)\nm.update.assert_called_once_with(5)"
CHECKED_FAKE = """
class Inner:
    def assert_called_once_with(self, value):
        raise AssertionError
class Outer:
    def __init__(self):
        self.update = Inner()
outer = Outer()
notify(outer)
outer.update.assert_called_once_with(5)
"""
CONFIGURES = "def notify(m):\n    m.update.configure_mock(assert_called_once_with=lambda *_: None)"
REPLACES = """
class Fine:
    def assert_called_once_with(self, value):
        pass
def notify(m):
    m.update = Fine()
"""
EVALUATES = "def apply(function, value):\n    function('[each.append(3) for each in [seen]]')\n    return 2"


@pytest.mark.parametrize(
    ("program", "test", "said"),
    [
        (EXITS_WHEN_IMPORTED, RUN_ONE, "assert"),  # a module comes over as its name, and is imported by nobody
        (EVALUATES, "seen = []\napply(eval, '1 + 1')\nassert seen == [3]", "eval would give the program"),
        (CONFIGURES, CHECKED_MOCK, PUBLIC),
        (REPLACES, CHECKED_MOCK, PUBLIC),
        (REPLACES, CHECKED_FAKE, PUBLIC),
        ("def apply(f, x):\n    return f('main.py').read()", "apply(open, 'x')", "open would give the program"),
        ("def apply(f, *x):\n    return f(*x)", "def g(): pass\napply(getattr, g, '__globals__')", "getattr would give"),
    ],
)
def test_no_way_into_the_test_code_s_jail(jail: Jail, program: str, test: str, said: str) -> None:
    grade = jail.grade(program, [test])
    assert grade.verdict in (Verdict.RUNTIME_ERROR, Verdict.WRONG_ANSWER)
    assert said in grade.outcomes[0].reason


def test_what_the_hacks_of_what_is_told_change_is_there() -> None:
    """They look for a class and its method by name; under other names they would try nothing."""
    served = Path(GUEST_CODE, "serve.py").read_text(encoding="utf-8")
    for name in ("forge_stand_in", "forge_stand_in_int"):
        (hack,) = hacks.load([name])
        assert 'f_globals.get("Program")' in hack.code and "program._class" in hack.code
    assert "class Program:" in served and "def _class(" in served
