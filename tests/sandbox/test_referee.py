"""Assert tests through the referee: honest programs are judged as in one process, and no program can forge a pass."""

from __future__ import annotations

import pytest
from jails import PATIENCE

from jailpy import InfrastructureError, Jail, Limits, Status, Verdict

WIDE = Limits(cpu_s=PATIENCE, wall_s=PATIENCE)

PROGRAM = '''
import math
import random
from collections import Counter, namedtuple
from enum import Enum
from typing import List

PI = 3.0
calls = []

def add(a, b):
    """
    >>> add(1, 2)
    3
    """
    calls.append((a, b))
    return a + b

def sort(items: List[int]) -> None:
    items.sort()

def numbers(n):
    for i in range(n):
        yield i

def apply(function, *args):
    return function(*args)

def say(text):
    print(text)

def ask():
    return input() + input()

def roll():
    return random.random()

def make_adder(n):
    return lambda m: n + m

def write(name, text):
    with open(name, "w") as file:
        file.write(text)

def read(name):
    with open(name) as file:
        return file.read()

def same(items):
    return items

async def slow(n):
    import asyncio
    await asyncio.sleep(0)
    return n

class Broken(ValueError):
    def __init__(self, code):
        super().__init__(f"broken {code}")
        self.code = code

def fail(code):
    raise Broken(code)

class Stack:
    """A stack."""
    made = 0

    def __init__(self, items=()):
        self.items = list(items)
        Stack.made += 1

    def push(self, item):
        self.items.append(item)
        return self

    @property
    def top(self):
        return self.items[-1]

    @classmethod
    def of(cls, *items):
        return cls(items)

    @staticmethod
    def name():
        return "stack"

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, item):
        return item in self.items

    def __getitem__(self, at):
        return self.items[at]

    def __eq__(self, other):
        return isinstance(other, Stack) and self.items == other.items

    def __hash__(self):
        return hash(tuple(self.items))

    def __add__(self, other):
        return Stack(self.items + (other.items if isinstance(other, Stack) else [other]))

    def __lt__(self, other):
        return len(self) < len(other)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.items.clear()
        return False

    def __str__(self):
        return f"Stack of {len(self)}"

class Deep(Stack):
    pass

Point = namedtuple("Point", "x y")

def point():
    return Point(1, 2)

class Colour(Enum):
    RED = 1
    BLUE = 2

class Words(list):
    def longest(self):
        return max(self, key=len)

def sum(a, b):
    return a * b
'''

HONEST = {
    "a value": "assert add(1, 2) == 3",
    "keywords": "assert add(b=2, a=1) == 3",
    "a constant": "assert PI == 3.0",
    "a variable that changes": "add(1, 2)\nassert calls == [(1, 2)]\nadd(3, 4)\nassert calls[-1] == (3, 4)",
    "in place": "items = [3, 1, 2]\nassert sort(items) is None\nassert items == [1, 2, 3]",
    "in place, nested": "rows = [[2, 1], [4, 3]]\nfor row in rows: sort(row)\nassert rows == [[1, 2], [3, 4]]",
    "identity": "items = [1]\nassert same(items) is items\nassert same([items])[0] is items",
    "a generator": "assert list(numbers(4)) == [0, 1, 2, 3]\nassert next(numbers(1)) == 0\nassert 2 in numbers(3)",
    "a callback": "assert apply(lambda a, b: a - b, 5, 3) == 2",
    "a callback that raises": "class Odd(Exception): pass\ndef bad(): raise Odd('x')\n"
    "try: apply(bad)\nexcept Odd as error: assert str(error) == 'x'\nelse: assert False",
    "a built-in as callback": "assert apply(len, [1, 2]) == 2",
    "an object of the test's": "class Node:\n    def __init__(self, v): self.v = v\n    def twice(self): return self.v * 2\n"
    "assert apply(lambda n: n.twice(), Node(4)) == 8",
    "a closure": "assert make_adder(2)(3) == 5",
    "captured output": "import io, contextlib\nout = io.StringIO()\nwith contextlib.redirect_stdout(out): say('hello')\n"
    "assert out.getvalue() == 'hello\\n'\nsay('not this')\nassert out.getvalue() == 'hello\\n'",
    "patched input": "from unittest.mock import patch\n"
    "with patch('builtins.input', side_effect=['a', 'b']): assert ask() == 'ab'",
    "standard input": "import io, sys\nsys.stdin = io.StringIO('x\\ny\\n')\nassert ask() == 'xy'",
    "a seed": "import random\nrandom.seed(7)\nmine = random.random()\nrandom.seed(7)\nassert roll() == mine",
    "files": "import os, tempfile\nwrite('a.txt', 'one')\nassert open('a.txt').read() == 'one'\n"
    "with open('a.txt', 'w') as file: file.write('two')\nassert read('a.txt') == 'two'\nos.remove('a.txt')\n"
    "folder = tempfile.mkdtemp()\nwrite(folder + '/b', 'three')\nassert open(folder + '/b').read() == 'three'\n"
    "try: read('a.txt')\nexcept FileNotFoundError: pass\nelse: assert False",
    "a coroutine": "import asyncio\nassert asyncio.run(slow(3)) == 3",
    "an exception of the program's": "try: fail(7)\nexcept Broken as error:\n    assert str(error) == 'broken 7'\n"
    "    assert error.code == 7\n    assert isinstance(error, ValueError)\nelse: assert False",
    "its base": "try: fail(7)\nexcept ValueError: pass\nelse: assert False",
    "a built-in exception": "try: add(1, 'x')\nexcept TypeError as error: assert 'unsupported' in str(error)\nelse: assert False",
    "a class": "s = Stack()\ns.push(1).push(2)\nassert len(s) == 2 and s.top == 2 and list(s) == [1, 2] and s[0] == 1\n"
    "assert 2 in s and 3 not in s and str(s) == 'Stack of 2' and s.items == [1, 2]\n"
    "assert isinstance(s, Stack) and type(s) is Stack and type(s).__name__ == 'Stack'",
    "its operators": "assert Stack([1]) == Stack([1]) != Stack([2])\nassert (Stack([1]) + Stack([2])).items == [1, 2]\n"
    "assert (Stack([1]) + 5).items == [1, 5]\nassert Stack() < Stack([1])\nassert len({Stack([1]), Stack([1])}) == 1",
    "its class attributes": "assert Stack.name() == 'stack' and Stack.of(1, 2).items == [1, 2]\nStack()\nassert Stack.made == 2",
    "its attributes": "s = Stack()\ns.items = [1]\ns.items.append(2)\nassert s.push(3).items == [1, 2, 3]\ns.colour = 'red'\n"
    "assert s.colour == 'red' and vars(s) == {'items': [1, 2, 3], 'colour': 'red'}\ndel s.colour\nassert not hasattr(s, 'colour')",
    "its context": "s = Stack([1])\nwith s as inner: assert len(inner) == 1\nassert len(s) == 0",
    "its copies": "import copy\ns = Stack([1])\nt = copy.deepcopy(s)\nt.push(2)\nassert s.items == [1] and t.items == [1, 2]",
    "derived": "d = Deep([1])\nassert isinstance(d, Stack) and issubclass(Deep, Stack) and d.top == 1",
    "a method replaced": "from unittest.mock import MagicMock\ns = Stack()\ns.push = MagicMock(return_value=4)\n"
    "assert s.push(1) == 4\ns.push.assert_called_once_with(1)",
    "a named tuple": "p = point()\nassert p == (1, 2) and p.x == 1 and p._asdict() == {'x': 1, 'y': 2}\n"
    "assert isinstance(p, tuple) and repr(p) == 'Point(x=1, y=2)'",
    "an enumeration": "assert Colour.RED == Colour(1) is Colour['RED'] and Colour.RED != Colour.BLUE\n"
    "assert [c.name for c in Colour] == ['RED', 'BLUE'] and Colour.RED.value == 1",
    "a list with methods": "w = Words(['a', 'bcd'])\nw.append('e')\nassert w == ['a', 'bcd', 'e'] and w.longest() == 'bcd'",
    "imports of the program's": "assert math.pi > 3 and Counter('aa') == {'a': 2}",
    "a function with a built-in's name": "assert sum(2, 3) == 6",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(add(1, 2), 3)\n"
    "    def test_b(self):\n        with self.assertRaises(Broken): fail(1)\nif __name__ == '__main__': unittest.main()",
    "unittest, only defined": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(add(1, 2), 3)",
    "functions, only defined": "def test_add(): assert add(1, 2) == 3",
    "doctest": "import doctest, sys\nr = doctest.testmod(sys.modules['__main__'])\nassert r == (0, 1), r",
}

WRONG = {
    "a value": ("assert add(1, 2) == 4", Verdict.WRONG_ANSWER, "add"),
    "a type": ("assert add(1, 2) == '3'", Verdict.WRONG_ANSWER, "add"),
    "unittest": (
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(add(1, 2), 4)\n"
        "if __name__ == '__main__': unittest.main()",
        Verdict.WRONG_ANSWER,
        "3 != 4",
    ),
    "unittest, only defined": (
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(add(1, 2), 4)",
        Verdict.WRONG_ANSWER,
        "3 != 4",
    ),
    "functions, only defined": ("def test_add(): assert add(1, 2) == 4", Verdict.WRONG_ANSWER, "add"),
    "no test at all": ("def check(candidate): assert candidate(1, 2) == 3", Verdict.RUNTIME_ERROR, "runs no test"),
    "an exception": ("fail(3)", Verdict.RUNTIME_ERROR, "broken 3"),
    "an unknown name": ("missing(1)", Verdict.RUNTIME_ERROR, "NameError"),
    "an exit of the test's": ("import sys\nsys.exit(0)", Verdict.RUNTIME_ERROR, "SystemExit"),
    "what cannot be lent": ("import sys\napply(lambda m: m, sys)", Verdict.RUNTIME_ERROR, "in_process=True"),
    "a class derived from the program's": ("class Mine(Stack): pass", Verdict.RUNTIME_ERROR, "in_process=True"),
}

_EVIL = """
class Evil:
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __iter__(self): return iter(())
    def __len__(self): return 0
    def __round__(self, *a): return self
    def __index__(self): return 3
    __int__ = __index__
    def __float__(self): return 3.5
    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = __contains__ = __bool__ = lambda self, *a: True
    __ne__ = lambda self, *a: False
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __abs__ = __neg__ = __mod__ = lambda self, *a: 0.0
    __hash__ = lambda self: hash(3)
"""

#: Programs that do not solve the task, and a test that each passes when it runs beside it.
FORGED = {
    "equal to everything": (_EVIL + "def solve(x): return Evil()", "assert solve(2) == 3"),
    "no difference to anything": (_EVIL + "def solve(x): return Evil()", "assert abs(solve(2) - 3.5) < 1e-6"),
    "less than anything": (_EVIL + "def solve(x): return Evil()", "assert solve(2) < 3"),
    "contains everything": (_EVIL + "def solve(x): return Evil()", "assert 3 in solve(2)"),
    "equal from the other side": (_EVIL + "def solve(x): return Evil()", "assert 3 == solve(2)"),
    "equal within a list": (_EVIL + "def solve(x): return [Evil()]", "assert solve(2) == [3]"),
    "an int that equals": (
        "class I(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\ndef solve(x): return I(0)",
        "assert solve(2) == 3",
    ),
    "a list that equals": (
        "class L(list):\n    __eq__ = lambda s, o: True\ndef solve(x): return L()",
        "assert solve(2) == [3]",
    ),
    "its own instance": (
        "class Solution:\n    def solve(self, x): return self\n    __sub__ = __rsub__ = lambda s, o: 0.0",
        "s = Solution()\nassert abs(s.solve(2) - 3.5) < 1e-6",
    ),
    "its own abs": ("def abs(x): return 0\ndef solve(x): return 9.0", "assert abs(solve(2) - 3.5) < 1e-6"),
    "its own sorted": (
        "def sorted(x): return [3]\ndef sum(a): return []",
        "assert sorted(sum(2)) == [3]",
    ),
    "its own math": (
        "class math:\n    isclose = staticmethod(lambda *a: True)\ndef solve(x): return 9.0",
        "assert math.isclose(solve(2), 3.5)",
    ),
    "a patched math": (
        "import math\nmath.isclose = lambda *a: True\ndef solve(x): return 9.0",
        "assert math.isclose(solve(2), 3.5)",
    ),
    "patched builtins": (
        "import builtins\nbuiltins.abs = lambda x: 0\ndef solve(x): return 9.0",
        "assert abs(solve(2) - 3.5) < 1e-6",
    ),
    "a test loader of its own": (
        "def load_tests(loader, tests, pattern):\n    import unittest\n    return unittest.TestSuite()\ndef solve(x): return 9",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): assert solve(2) == 3\nunittest.main()",
    ),
    "a patched unittest": (
        "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\ndef solve(x): return 9",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(solve(2), 3)\n"
        "def run():\n    unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T)).wasSuccessful() or 1 / 0\n"
        "run()",
    ),
    "the frame of the test": (
        "import sys\ndef solve(x):\n    f = sys._getframe(1)\n    return f.f_globals['expected']",
        "expected = 3\nassert solve(2) == expected",
    ),
    "a planted module": (
        "open('helper_of_tests.py', 'w').write('right = lambda *a: True')\ndef solve(x):\n    return 9",
        "solve(2)\nimport sys\nsys.path.append('/nonexistent')\ntry:\n    from helper_of_tests import right\n"
        "except ImportError:\n    right = lambda a, b: a == b\nassert right(solve(2), 3)",
    ),
    "an exception that is expected of others": (
        "class Stop(AssertionError): pass\nimport sys, atexit\ndef solve(x):\n    import unittest\n    raise unittest.SkipTest('no')",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): assert solve(2) == 3\n"
        "r = unittest.TestResult()\nT('test_a').run(r)\nassert r.wasSuccessful()",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_programs_pass(jail: Jail, name: str) -> None:
    grade = jail.grade(PROGRAM, [HONEST[name]], limits=WIDE)
    assert (grade.verdict, [outcome.reason for outcome in grade.outcomes]) == (Verdict.PASSED, [""])
    assert grade.in_process is False


@pytest.mark.parametrize("name", WRONG)
def test_what_fails_says_why(jail: Jail, name: str) -> None:
    test, verdict, reason = WRONG[name]
    grade = jail.grade(PROGRAM, [test], limits=WIDE)
    assert grade.verdict is verdict
    assert reason in grade.outcomes[0].reason


@pytest.mark.parametrize("name", FORGED)
def test_forged_passes_pass_only_beside_the_program(jail: Jail, name: str) -> None:
    program, test = FORGED[name]
    assert jail.grade(program, [test], limits=WIDE, in_process=True).verdict is Verdict.PASSED
    refereed = jail.grade(program, [test], limits=WIDE)
    assert refereed.verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)


@pytest.mark.parametrize(
    ("program", "status", "verdict", "reason"),
    [
        ("def f(): return 1\nimport os\nos._exit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "exit code 0"),
        ("def f(): return 1\nraise SystemExit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "SystemExit"),
        ("def f():\n    import os\n    os._exit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "exit code 0"),
        ("def f(): raise SystemExit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "SystemExit"),
        ("def f(:", Status.EXITED, Verdict.COMPILE_ERROR, "SyntaxError"),
        ("1 / 0", Status.EXITED, Verdict.RUNTIME_ERROR, "ZeroDivisionError"),
        ("def f():\n    import ctypes\n    ctypes.string_at(0)", Status.SIGNALLED, Verdict.RUNTIME_ERROR, "SIGSEGV"),
        ("def f():\n    import os\n    os.kill(os.getpid(), 9)", Status.SIGNALLED, Verdict.RUNTIME_ERROR, "SIGKILL"),
        ("def f():\n    while True: pass", Status.CPU_TIME, Verdict.TIME_LIMIT, "CPU time"),
        ("while True: pass", Status.CPU_TIME, Verdict.TIME_LIMIT, "CPU time"),
        ("def f():\n    import time\n    time.sleep(100)", Status.WALL_TIME, Verdict.TIME_LIMIT, "wall time"),
        ("def f(): return [0] * 10**9", Status.MEMORY, Verdict.MEMORY_LIMIT, "memory"),
        ("def f():\n    while True: print('x' * 1000)", Status.OUTPUT, Verdict.OUTPUT_LIMIT, "output"),
        ("def f(): return 'x' * (20 << 20)", Status.EXITED, Verdict.OUTPUT_LIMIT, "too large"),
        ("def f():\n    while True: yield 1", Status.EXITED, Verdict.TIME_LIMIT, "test code"),
    ],
    ids=[
        *("exits at once", "SystemExit at once", "exits in a call", "SystemExit in a call", "syntax", "raises at once"),
        *("segfault", "kills itself", "spins in a call", "spins at once", "sleeps", "memory", "output", "a large value", "endless"),
    ],
)
def test_ends_of_the_program(jail: Jail, program: str, status: Status, verdict: Verdict, reason: str) -> None:
    limits = Limits(cpu_s=1, wall_s=4, memory_mb=200, output_mb=2)
    test = "for _ in f(): pass" if "yield" in program else "assert f() == 1"
    grade = jail.grade(program, [test], limits=limits)
    outcome = grade.outcomes[0]
    assert (outcome.status, outcome.verdict) == (status, verdict), outcome.reason
    assert reason in outcome.reason


def test_the_program_cannot_reach_into_the_test(jail: Jail) -> None:
    """A function that the test lends can be called, and nothing else."""
    program = (
        "def solve(f):\n    found = []\n"
        "    for name in ('__globals__', '__code__', '__closure__', '__self__', '__class__'):\n"
        "        try: found.append(f._jailpy_program.ask('get', f._jailpy_back, name) if hasattr(f, '_jailpy_program')"
        " else solve.__globals__['ask'](f, name))\n"
        "        except AttributeError as error: found.append(str(error))\n"
        "    return found\n"
        "def ask(f, name):\n    program = f.__closure__[1].cell_contents\n    return program.ask('get', f._jailpy_back, name)\n"
    )
    test = (
        "class Mine:\n    secret = 1\n    def method(self): return 2\n"
        "refused = 'the test code\\'s objects can be called and their public attributes used, no more'\n"
        "assert solve(lambda: 1) == [refused] * 5, solve(lambda: 1)\nassert solve(Mine()) == [refused] * 5, solve(Mine())"
    )
    grade = jail.grade(program, [test], limits=WIDE)
    assert grade.verdict is Verdict.PASSED, grade.outcomes[0].reason


def test_both_jails_are_gone(jail: Jail) -> None:
    """A program that goes on after its test: the grade comes, and nothing of it is left (the fixture looks)."""
    program = (
        "import os, threading, time, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "if os.fork() == 0: time.sleep(1000)\ndef f(): return 1"
    )
    assert jail.grade(program, ["assert f() == 1"], limits=WIDE).verdict is Verdict.PASSED
    assert jail.grade(program, ["assert f() == 2"], limits=WIDE).verdict is Verdict.WRONG_ANSWER


def test_expected_values_are_not_in_the_programs_jail(jail: Jail) -> None:
    program = (
        "import os\ndef look():\n    found = []\n    for root in ('/box', '/tmp', '/jailpy', '/dev/shm'):\n"
        "        for folder, _, names in os.walk(root):\n            for name in names:\n"
        "                found.append(open(os.path.join(folder, name), 'rb').read())\n"
        "    found.append(open('/proc/self/cmdline', 'rb').read())\n    found.append(open('/proc/self/environ', 'rb').read())\n"
        "    return any(b'4815162342' in text for text in found)"
    )
    assert jail.grade(program, ["right = '4815162342'\nassert look() is False"], limits=WIDE).verdict is Verdict.PASSED
    beside = jail.grade(program, ["right = '4815162342'\nassert look() is True"], limits=WIDE, in_process=True)
    assert beside.in_process is True


def test_a_broken_jail_is_no_verdict(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    from jailpy import jail as module  # noqa: PLC0415  # to be broken

    def broken(*_: object, **__: object) -> object:
        raise InfrastructureError("no jail today")

    monkeypatch.setattr(module.Jail, "_run_once", broken)
    with pytest.raises(InfrastructureError, match="no jail today"):
        jail.grade(PROGRAM, ["assert add(1, 2) == 3"])
