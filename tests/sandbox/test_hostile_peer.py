"""A program that answers the referee with messages of its own making: none makes a test pass that it does not pass.

Each row was, or could be, a way to be judged right without the right value; the controls show that the messages are
understood."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jails import PATIENCE, guest

from jailpy import Jail, Limits, Outcome, Verdict

#: How a jail was made is no matter to what is said in it.
pytestmark = pytest.mark.parametrize("way", ["warm"], indirect=True)

LIMITS = Limits(cpu_s=PATIENCE, wall_s=PATIENCE, memory_mb=256)
#: For those that may say nothing, or never stop.
SHORT = Limits(cpu_s=2, wall_s=4, memory_mb=256, output_mb=1)
EQUAL = "assert solve(2) == 3"
UNIT = (
    "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(solve(2), 3)\n"
    "if __name__ == '__main__': unittest.main()"
)
#: Code that ends a process as test code ends that has passed, if anything of the test code's jail runs it.
PASS = "import os; os.write(3, b'\\0' * 7 + b'\\x0bd1:s4:doneT'); os._exit(0)"


def _outcome(jail: Jail, messages: str, test: str, limits: Limits = LIMITS) -> Outcome:
    program = f"{guest('speak_for_itself')}\nspeak({messages})\n"
    return jail.grade(program, [test], limits=limits).outcomes[0]


@pytest.mark.parametrize("test", [EQUAL, UNIT], ids=["assert", "unittest"])
def test_its_messages_are_understood(jail: Jail, test: str) -> None:
    right = _outcome(jail, "answers(3)", test)
    wrong = _outcome(jail, "answers(4)", test)
    assert (right.verdict, right.reason) == (Verdict.PASSED, "")
    assert wrong.verdict is Verdict.WRONG_ANSWER, wrong.reason


def test_the_code_that_passes_would_pass(jail: Jail) -> None:
    outcome = _outcome(jail, "answers(4)", f"{PASS}\n{EQUAL}")
    assert outcome.verdict is Verdict.PASSED, outcome.reason


#: A name, what the program says, the test, and what the reason holds.
FORGERIES = [
    ("its own __eq__", "answers(instance(methods=(('__eq__', 'f', None),)), *[True] * 9)", EQUAL, "AssertionError"),
    ("__eq__ as an operator", "answers(instance(special=('__eq__', '__ne__', '__bool__')), *[True] * 9)", EQUAL, "Asser"),
    (
        "__eq__ of a plain value",
        "answers(mark('@plain', 2, kind(plain='int', special=('__eq__',), methods=(('__eq__', 'f', None),)), 4),"
        " *[True] * 9)",
        EQUAL,
        "AssertionError",
    ),
    (
        "a plain method of a plain value",
        "answers(mark('@plain', 2, kind(plain='str', methods=(('endswith', 'f', None),)), 'a'), *[True] * 9)",
        "assert solve(2).endswith('z')",
        "AssertionError",
    ),
    (
        "a class of its choice",
        "answers(instance(methods=(('__class__', 'p', None),)), *[mark('@name', 'int')] * 9)",
        "assert isinstance(solve(2), int)",
        "AssertionError",
    ),
    (
        "an instance that the test seems to have made",
        "answers(instance(special=('__lt__',), methods=(('_jailpy_at', 'p', None),)), None,"
        " *[(instance(number=4, methods=(('ask', 'f', None),)), 1, True)] * 2, *[True] * 9)",
        "assert solve(2) < 3",
        "only a plain value will do",
    ),
    (
        "a class that is an enumeration by an operator",
        "answers(instance(special=('_jailpy_enum', '__class__', '__del__', '__getattribute__')), *[True] * 9)",
        EQUAL,
        "AssertionError",
    ),
    (
        "every name that means something",
        "answers(instance(methods=tuple((name, how, None) for name in ('__eq__', '__bool__', '__getattribute__', '__del__',"
        " '__hash__', '__new__', '__init_subclass__', '__set_name__', '__class__', '__dict__', '__reduce_ex__', 'mro')"
        " for how in 'fcsp')), *[True] * 99)",
        EQUAL,
        "AssertionError",
    ),
    (
        "a library's function in the place of another's",
        "answers(mark('@function', 5, 'nothing', 'datetime', None), 7, 7, names=('datetime', 'solve'))",
        "right = datetime(2020, 1, 1)\nassert solve(2) == right",
        "not callable",
    ),
    (
        "a name that doctest runs",
        "answers(mark('@new', 1, {'a': '>>> 1\\n1'}), names=('solve', '__test__', '__doc__'))",
        f"import doctest, sys\ndoctest.testmod(sys.modules['__main__'])\n{EQUAL}",
        "AssertionError",
    ),
    (
        "a skipped test",
        "answers()[:2] + [raised(kind(4, 'SkipTest', 'unittest.case', None, (mark('@name', 'Exception'),)))]",
        UNIT,
        "SkipTest",
    ),
]


@pytest.mark.parametrize(("messages", "test", "reason"), [row[1:] for row in FORGERIES], ids=[row[0] for row in FORGERIES])
def test_no_description_of_an_object_is_a_pass(jail: Jail, messages: str, test: str, reason: str) -> None:
    outcome = _outcome(jail, messages, test)
    assert outcome.verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR), outcome.reason
    assert reason in outcome.reason


@pytest.mark.parametrize("test", [EQUAL, UNIT], ids=["assert", "unittest"])
@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "GeneratorExit", "StopIteration", "BaseException"])
def test_no_exception_is_a_pass(jail: Jail, name: str, test: str) -> None:
    outcome = _outcome(jail, f"answers()[:2] + [raised(mark('@name', {name!r}), 0)]", test)
    assert outcome.verdict is Verdict.RUNTIME_ERROR, outcome.reason
    assert name in outcome.reason


@pytest.mark.parametrize("module", ["unittest.__main__", "pytest.__main__", "this", "test_planted", "pickle", "os"])
@pytest.mark.parametrize("test", [EQUAL, UNIT], ids=["assert", "unittest"])
def test_no_file_and_no_module_is_code(jail: Jail, module: str, test: str) -> None:
    """Files of every name that an import might look for, and then a module for the value."""
    names = "test_planted.py", "conftest.py", "unittest.py", "wave.py", "sitecustomize.py"
    planted = f"[(root, name, {PASS.encode()!r}) for name in {names!r} for root in (0, 1)]"
    last = f"message('value', mark('@module', {module!r}))"
    messages = f"[message('value', ('solve',), (), files={planted}), answers()[1], {last}]"
    outcome = _outcome(jail, messages, f"import wave\nimport sys\nsys.path.append('')\n{test}")
    assert outcome.verdict is Verdict.WRONG_ANSWER, outcome.reason
    assert "AssertionError" in outcome.reason


@pytest.mark.parametrize(
    "file",
    ["(0, '../x', b'')", "(-2, 'main.py', b'')", "(True, 'x', b'')", "(2, 'x', b'')", "(0, '__pycache__/x.pyc', b'')"],
)
def test_no_file_leaves_its_folder(jail: Jail, file: str) -> None:
    outcome = _outcome(jail, f"[message('value', ('solve',), (), files=[{file}]), *answers(3)[1:]]", EQUAL)
    assert outcome.verdict is Verdict.RUNTIME_ERROR
    assert "ended before its test" in outcome.reason


GARBAGE = [
    ("nothing", "[b'']"),
    ("no frame", "[b'\\xff' * 8]"),
    ("a lying length", "[(1 << 24).to_bytes(8, 'big'), b'l9999999:']"),
    ("a length above all", "[((1 << 24) + 1).to_bytes(8, 'big')]"),
    ("a lying count", "[(11).to_bytes(8, 'big'), b't99999999:N']"),
    ("no message", "[message('value')]"),
    ("no value", "[*answers()[:2], message('value')]"),
    ("no exception", "[*answers()[:2], message('raise', 3)]"),
    ("no error", "[*answers()[:2], message('raise')]"),
    ("no reason", "[*answers()[:2], message('large')]"),
    ("no such request", "[*answers()[:2], message('do', 3, 4), message('value', 4)]"),
    ("deep", "[*answers()[:2], (lambda d: len(d).to_bytes(8, 'big') + d)(b't1:' * 99999 + b'N')]"),
    ("not a number of its own", "answers(mark('@new', 0, [3]))"),
    ("a list that holds itself", "answers(mark('@new', 1, [mark('@ref', 1)]))"),
    ("what is not known", "answers(mark('@ref', 77))"),
    ("a class that is not known", "answers(mark('@known', 77))"),
    ("NaN keys", "answers(mark('@new', 1, ('d', [x for i in range(999) for x in (float('nan'), i)])))"),
    ("equal hashes", "answers(mark('@new', 1, ('d', [x for i in range(9999) for x in (i * ((1 << 61) - 1), i)])))"),
    ("instances as keys", "answers(mark('@new', 1, ('s', [instance(special=('__hash__',))])), *[1] * 9)"),
    ("a range of instances", "answers(mark('@std', 'builtins.range', instance(special=('__index__',)), 3, 1), *[1] * 9)"),
    ("an array of objects", "answers(mark('@std', 'array', '|O8', (1,), b'12345678'))"),
    ("no library type", "answers(mark('@std', 'os.system', 'true'))"),
    ("bases that contradict", "answers(instance(bases=(kind(5, plain='int'), kind(6, plain='str'))))"),
    ("a class among its bases", "answers(instance(bases=(mark('@known', 1),)))"),
    ("a class without a name", "answers(mark('@class', 1))"),
    ("names that are none", "answers(instance(name=3, module=4, doc=5, special=6, methods=7))"),
    ("too many classes", "answers(tuple(kind(number=n) for n in range(30_000)))"),
    ("a long text", "answers(instance(doc='x' * ((1 << 24) - 1000)))"),
    ("a million nodes", "answers((None,) * 1_900_000)"),
    ("byte by byte", "[bytes([byte]) for data in answers(4) for byte in data]"),
    ("names that are no texts", "answers(4, names=(1, None, (), b'solve'))"),
    ("all at once", "answers(*range(4, 9999))"),
]


@pytest.mark.parametrize("messages", [row[1] for row in GARBAGE], ids=[row[0] for row in GARBAGE])
@pytest.mark.parametrize("test", [EQUAL, UNIT], ids=["assert", "unittest"])
def test_garbage_is_a_failure(jail: Jail, messages: str, test: str) -> None:
    outcome = _outcome(jail, messages, test, SHORT)
    assert outcome.verdict not in (Verdict.PASSED, Verdict.INTERNAL_ERROR), outcome.reason
    assert outcome.reason


ENDLESS = [
    ("callbacks", "(message('call', 0, (), {}) if n > 1 else answers()[n] for n in range(1 << 60))"),
    ("requests of no kind", "(message('x') if n > 1 else answers()[n] for n in range(1 << 60))"),
    ("values", "(message('value', 4) if n > 1 else answers()[n] for n in range(1 << 60))"),
    ("attributes", "answers(*[instance(methods=(('__getattribute__', 'f', None),))] * 9999)"),
    ("silence", "answers()"),
]


@pytest.mark.parametrize("messages", [row[1] for row in ENDLESS], ids=[row[0] for row in ENDLESS])
def test_nothing_goes_on_for_ever(jail: Jail, messages: str) -> None:
    outcome = _outcome(jail, messages, "def call(): return solve(call)\nassert solve(call) == 3", SHORT)
    assert outcome.verdict not in (Verdict.PASSED, Verdict.INTERNAL_ERROR), outcome.reason
    assert outcome.reason


_texts = st.sampled_from(
    ["E", "int", "__eq__", "__class__", "solve", "value", "builtins.range", "collections.deque", "SystemExit"]
)
_marks = st.sampled_from(
    [
        "@new",
        "@ref",
        "@std",
        "@name",
        "@class",
        "@function",
        "@object",
        "@plain",
        "@error",
        "@module",
        "@known",
        "@back",
        "@own",
        "@",
    ]
)
_leaves = st.one_of(st.none(), st.booleans(), st.integers(-2, 9), st.floats(), _texts, st.binary(max_size=4))
_shapes = st.recursive(
    _leaves.map(repr),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, max_size=6).map(lambda items: f"({''.join(item + ', ' for item in items)})"),
        st.tuples(_marks, st.lists(inner, max_size=6)).map(lambda pair: f"mark({pair[0]!r}, {', '.join(pair[1])})"),
    ),
    max_leaves=12,
)
_one = st.one_of(
    st.tuples(
        st.sampled_from(["value", "raise", "large", "call", "get", "set", "operator"]), st.lists(_shapes, max_size=3)
    ).map(lambda pair: f"message({', '.join([repr(pair[0]), *pair[1]])})"),
    st.binary(max_size=40).map(repr),
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(messages=st.lists(_one, min_size=1, max_size=6))
@example(messages=["message('value', 4)"])
def test_random_messages_are_a_failure(jail: Jail, messages: list[str]) -> None:
    """The expected value is no value that a message can be made of here."""
    program = (
        f"nan = float('nan')\ninf = float('inf')\n{guest('speak_for_itself')}\n"
        f"speak([*answers()[:2], *[{', '.join(messages)}]])\n"
    )
    test = "assert solve(lambda: 1) == 'what no message holds'"
    outcome = jail.grade(program, [test], limits=Limits(cpu_s=PATIENCE, wall_s=3)).outcomes[0]
    assert outcome.verdict not in (Verdict.PASSED, Verdict.INTERNAL_ERROR), outcome.reason
