"""Tests as frozen data, from every form in which they come.

Taken: a list of test objects (`type` may be left out where the keys tell), one such object, `{"inputs", "outputs",
"fn_name"}`, a list of assert strings, mixtures of these in one list, and any of it as a JSON text.

With `fn_name`, as in APPS, TACO and LiveCodeBench, an input is either the list of arguments, and its output is the
expected value; or a text with one JSON value a line, and an output that is a text is JSON too. Some APPS rows wrap
every expected value in a list of one; graders of that family therefore also take a value that equals the first item of
the expected list. Here that is so only when every output of the row is a list of exactly one item (see
`ValueCompare.one_item_list`). Keys of objects stay the strings that JSON made of them. Without `fn_name` inputs and
outputs are texts, or lists of lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeGuard

from jailpy.compare import TextCompare, ValueCompare
from jailpy.efficiency import size_number
from jailpy.errors import UsageError
from jailpy.guest import values
from jailpy.languages import check_language
from jailpy.limits import Limits
from jailpy.project import KEYS as PROJECT_KEYS
from jailpy.project import ProjectTest, parse_project
from jailpy.scoring import group_label, weight_number
from jailpy.workers import Carried, carry

#: Bounds of the arguments and of the expected value of one call.
MAX_VALUE_BYTES = 16 << 20
MAX_VALUE_NODES = 2_000_000


@dataclass(frozen=True, slots=True)
class StdioTest:
    """The program reads `input`, and what it prints is compared with `expected_output`. Bytes stay as given."""

    input: bytes
    expected_output: bytes
    compare: TextCompare = field(default_factory=TextCompare)
    weight: float = 1.0
    group: str | None = None
    size: float | None = None


@dataclass(frozen=True, slots=True)
class CallTest:
    """`function` (`name` or `Class.method`) is called and its value compared. `prelude` runs before the program."""

    function: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    expected: Any
    compare: ValueCompare = field(default_factory=ValueCompare)
    prelude: str = ""
    weight: float = 1.0
    group: str | None = None
    size: float | None = None


@dataclass(frozen=True, slots=True)
class AssertTest:
    """`code` uses names of the program and passes when it ends without an exception. `prelude` holds test helpers.

    in_process   the caller allows the test to run beside the program, where the program can forge its outcome
    """

    code: str
    in_process: bool = False
    prelude: str = ""
    weight: float = 1.0
    group: str | None = None
    size: float | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Code of the caller's that judges, in a jail of its own.

    function  the code defines `check(input, output, answer)`; otherwise it is a program
    limits    what differs from the limits of the run, by the names of Limits' fields
    """

    code: bytes
    function: bool = False
    limits: tuple[tuple[str, float], ...] = ()

    def within(self, limits: Limits) -> Limits:
        """Its limits in a run under these."""
        return replace(limits, **dict(self.limits))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class CheckTest:
    """The program reads `input`; a checker decides whether what it prints is right (see `jailpy.checking`).

    checker_s  seconds on the clock for one check by a callable
    """

    input: bytes
    checker: Carried | Judge
    expected_output: bytes = b""
    checker_s: float = 10.0
    weight: float = 1.0
    group: str | None = None
    size: float | None = None


@dataclass(frozen=True, slots=True)
class InteractTest:
    """The program talks to an interactor, which decides (see `jailpy.interaction`). `input` and `answer` are for the
    interactor alone."""

    interactor: Judge
    input: bytes = b""
    answer: bytes = b""
    weight: float = 1.0
    group: str | None = None
    size: float | None = None


Test = StdioTest | CallTest | AssertTest | CheckTest | InteractTest | ProjectTest
#: Tests whose code is run in a jail of its own.
Refereed = AssertTest | ProjectTest
_TESTS = (StdioTest, CallTest, AssertTest, CheckTest, InteractTest, ProjectTest)

#: Keys of every test: what it counts, the group that counts together, and its size where growth is measured.
_ABOUT = ("weight", "group", "size")
_LABELS = frozenset(("id", "name", "note"))
_KEYS = {
    "stdio": frozenset(("input", "expected_output", "compare", *_ABOUT)),
    "call": frozenset(("function", "args", "args_text", "kwargs", "expected", "compare", "prelude", *_ABOUT)),
    "assert": frozenset(("code", "in_process", "prelude", *_ABOUT)),
    "check": frozenset(("input", "checker", "checker_s", "checker_limits", "expected_output", *_ABOUT)),
    "interact": frozenset(("input", "interactor", "interactor_limits", "answer", *_ABOUT)),
    "project": PROJECT_KEYS,
}
_GROUP_KEYS = frozenset(("inputs", "outputs", "fn_name", "compare", "prelude", "weight", "group", "sizes"))
_TELLING = {
    "checker": "check",
    "interactor": "interact",
    "command": "project",
    "report": "project",
    "files": "project",
    "function": "call",
    "code": "assert",
    "expected_output": "stdio",
    "input": "stdio",
}
_LONGEST_CHECK = 86_400
_Carried = dict[int, Carried]  # checkers of one set of tests by their identity: one that is given often is pickled once


def is_refereed(test: Test) -> TypeGuard[Refereed]:
    """Whether the test's code is run in another jail than the program."""
    return isinstance(test, (AssertTest, ProjectTest)) and not test.in_process


def parse_tests(tests: object, *, in_process: bool = False) -> tuple[Test, ...]:
    """Every test, checked. UsageError names the field of the first one that is wrong, and there is at least one test.

    in_process   for assert and project tests that do not say it themselves
    """
    if isinstance(tests, str):
        tests = _json(tests, "tests")
    carried: _Carried = {}
    if isinstance(tests, (dict, *_TESTS)):
        found = _one(tests, "tests", in_process, carried)
    elif isinstance(tests, (list, tuple)):
        found = [test for i, item in enumerate(tests) for test in _one(item, f"tests[{i}]", in_process, carried)]
    else:
        raise UsageError("tests", f"a {type(tests).__name__} is no list of tests")
    if not found:
        raise UsageError("tests", "there are none; a reward needs at least one test")
    if not any(test.weight > 0 for test in found):
        raise UsageError("tests", "every weight is 0; give at least one test a weight above 0")
    return tuple(found)


def _one(item: object, where: str, in_process: bool, carried: _Carried) -> list[Test]:
    if isinstance(item, _TESTS):
        about = {name: getattr(item, name) for name in _ABOUT}
        return [replace(item, **_about(about, where))]
    if isinstance(item, str):
        return [AssertTest(_assert_code(item, where), in_process)]
    if not isinstance(item, dict):
        raise UsageError(where, f"a {type(item).__name__} is no test; give an object or assert code")
    if "inputs" in item or "outputs" in item:
        return _group(item, where)
    kind = _kind(item, where)
    _refuse_unknown(item, where, _KEYS[kind] | {"type"}, f"a {kind} test")
    about = _about(item, where)
    if kind == "stdio":
        compare = TextCompare.parse(item.get("compare"), f"{where}.compare")
        given = _bytes(item.get("input", b""), f"{where}.input")
        expected = _bytes(_needed(item, where, "expected_output"), f"{where}.expected_output")
        return [StdioTest(given, expected, compare, **about)]
    if kind == "call":
        return [_call_from(item, where, about)]
    if kind == "project":
        return [parse_project(item, where, item.get("in_process", in_process), about)]
    if kind == "check":
        return [_check_from(item, where, about, carried)]
    if kind == "interact":
        interactor = _judge_from(_needed(item, where, "interactor"), item, where, "interactor")
        given = _bytes(item.get("input", b""), f"{where}.input")
        return [InteractTest(interactor, given, _bytes(item.get("answer", b""), f"{where}.answer"), **about)]
    beside = item.get("in_process", in_process)
    if not isinstance(beside, bool):
        raise UsageError(f"{where}.in_process", "must be true or false")
    code = _assert_code(_needed(item, where, "code"), f"{where}.code")
    return [AssertTest(code, beside, _text(item, where, "prelude"), **about)]


def _kind(item: dict[Any, Any], where: str) -> str:
    kind = item.get("type")
    if kind is None:
        kind = next((name for key, name in _TELLING.items() if key in item), None)
        if kind is None:
            raise UsageError(where, f"its keys do not tell what it is; give a type: {', '.join(_KEYS)}")
    if not isinstance(kind, str) or kind not in _KEYS:
        raise UsageError(f"{where}.type", f"{kind!r} is no type of test; choose from {', '.join(_KEYS)}")
    return kind


def _group(item: dict[Any, Any], where: str) -> list[Test]:
    """`{"inputs": [...], "outputs": [...]}`, one test for each pair."""
    _refuse_unknown(item, where, _GROUP_KEYS, "a group of inputs and outputs")
    inputs, outputs = _needed(item, where, "inputs"), _needed(item, where, "outputs")
    for name, column in (("inputs", inputs), ("outputs", outputs)):
        if not isinstance(column, (list, tuple)):
            raise UsageError(f"{where}.{name}", "must be a list, with one entry for each test")
    if len(inputs) != len(outputs):
        raise UsageError(f"{where}.outputs", f"{len(outputs)} for {len(inputs)} inputs; they must be as many")
    about = _about_each(item, where, len(inputs))
    function = item.get("fn_name")
    if function is None or function == "":
        if "prelude" in item:
            raise UsageError(f"{where}.prelude", "belongs to calls; without fn_name the tests are whole programs")
        text = TextCompare.parse(item.get("compare"), f"{where}.compare")
        return [
            StdioTest(_bytes(given, f"{where}.inputs[{i}]"), _bytes(right, f"{where}.outputs[{i}]"), text, **about[i])
            for i, (given, right) in enumerate(zip(inputs, outputs, strict=True))
        ]
    compare = ValueCompare.parse(item.get("compare"), f"{where}.compare")
    wrapped = replace(compare, one_item_list=True)
    may_wrap = all(isinstance(right, list) and len(right) == 1 for right in outputs)
    prelude = _text(item, where, "prelude")
    made: list[Test] = []
    for i, (given, right) in enumerate(zip(inputs, outputs, strict=True)):
        from_text = isinstance(given, str)
        args = _json_lines(given, f"{where}.inputs[{i}]") if isinstance(given, str) else given
        if not isinstance(args, (list, tuple)):
            raise UsageError(
                f"{where}.inputs[{i}]", "must be the list of arguments, or a text with a JSON value a line"
            )
        if from_text and isinstance(right, str):
            right = _json(right, f"{where}.outputs[{i}]")  # noqa: PLW2901
        made.append(
            CallTest(
                _function_name(function, f"{where}.fn_name"),
                tuple(_plain(list(args), f"{where}.inputs[{i}]")),
                {},
                _plain(right, f"{where}.outputs[{i}]"),
                wrapped if may_wrap and not from_text else compare,
                prelude,
                **about[i],
            )
        )
    return made


def _call_from(item: dict[Any, Any], where: str, about: dict[str, Any]) -> CallTest:
    if "args_text" in item:
        if "args" in item:
            raise UsageError(f"{where}.args_text", "give either args or args_text")
        args: object = _json_lines(item["args_text"], f"{where}.args_text")
        args_field = f"{where}.args_text"
    else:
        args, args_field = item.get("args", []), f"{where}.args"
    if not isinstance(args, (list, tuple)):
        raise UsageError(args_field, "must be the list of positional arguments")
    kwargs = item.get("kwargs", {})
    if not isinstance(kwargs, dict) or not all(type(name) is str for name in kwargs):
        raise UsageError(f"{where}.kwargs", "must be an object of named arguments")
    return CallTest(
        _function_name(_needed(item, where, "function"), f"{where}.function"),
        tuple(_plain(list(args), args_field)),
        _plain(dict(kwargs), f"{where}.kwargs"),
        _plain(_needed(item, where, "expected"), f"{where}.expected"),
        ValueCompare.parse(item.get("compare"), f"{where}.compare"),
        _text(item, where, "prelude"),
        **about,
    )


def _about(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    size = item.get("size")
    return {
        "weight": weight_number(f"{where}.weight", item.get("weight", 1.0)),
        "group": group_label(f"{where}.group", item.get("group")),
        "size": None if size is None else size_number(f"{where}.size", size),
    }


def _about_each(item: dict[Any, Any], where: str, count: int) -> list[dict[str, Any]]:
    """Weight and group are one for all; `sizes` has one entry for each test."""
    sizes = item.get("sizes")
    if sizes is None:
        return [_about(item, where)] * count
    if not isinstance(sizes, (list, tuple)) or len(sizes) != count:
        raise UsageError(f"{where}.sizes", f"must be a list of {count}, one for each input")
    about = _about(item, where)
    return [
        {**about, "size": None if size is None else size_number(f"{where}.sizes[{i}]", size)}
        for i, size in enumerate(sizes)
    ]


def _check_from(item: dict[Any, Any], where: str, about: dict[str, Any], carried: _Carried) -> CheckTest:
    checker = _needed(item, where, "checker")
    seconds = item.get("checker_s", 10.0)
    if callable(checker):
        if "checker_limits" in item:
            raise UsageError(f"{where}.checker_limits", "is for checkers in jails; for a callable give checker_s")
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= _LONGEST_CHECK:
            raise UsageError(f"{where}.checker_s", f"{seconds!r} is no number of seconds from 0 to {_LONGEST_CHECK}")
        if id(checker) not in carried:
            carried[id(checker)] = carry(checker, f"{where}.checker")
    elif "checker_s" in item:
        raise UsageError(f"{where}.checker_s", "is for callables; for a checker in a jail give checker_limits")
    return CheckTest(
        _bytes(item.get("input", b""), f"{where}.input"),
        carried[id(checker)] if callable(checker) else _judge_from(checker, item, where, "checker"),
        _bytes(item.get("expected_output", b""), f"{where}.expected_output"),
        float(seconds),
        **about,
    )


def _judge_from(given: object, item: dict[Any, Any], where: str, key: str) -> Judge:
    """A checker or an interactor that runs in a jail: a text, or {"program": code, "language": "python"}."""
    code, function = given, key == "checker"
    if isinstance(given, dict):
        _refuse_unknown(given, f"{where}.{key}", frozenset(("program", "language")), f"a {key}")
        code, function = _needed(given, f"{where}.{key}", "program"), False
        try:
            check_language(given.get("language", "python"))
        except UsageError as error:
            raise UsageError(f"{where}.{key}.language", error.problem) from None
    if not isinstance(code, (str, bytes)) or not code.strip():
        forms = "a callable, a text that defines check(input, output, answer)," if key == "checker" else "a program's text"
        raise UsageError(f"{where}.{key}", f'must be {forms} or {{"program": code, "language": "python"}}')
    limits = _some_limits(item.get(f"{key}_limits", {}), f"{where}.{key}_limits")
    return Judge(code.encode("utf-8", "surrogatepass") if isinstance(code, str) else code, function, limits)


def _some_limits(given: object, where: str) -> tuple[tuple[str, float], ...]:
    names = [spec.name for spec in fields(Limits)]
    if isinstance(given, Limits):
        return tuple((name, getattr(given, name)) for name in names)
    if not isinstance(given, dict):
        raise UsageError(where, f"a {type(given).__name__} is no set of limits; give an object such as {{'cpu_s': 5}}")
    _refuse_unknown(given, where, frozenset(names), "limits")
    try:
        Limits(**given)
    except UsageError as error:
        raise UsageError(f"{where}.{error.field.removeprefix('limits.')}", error.problem) from None
    return tuple(given.items())


def _bytes(text: object, where: str) -> bytes:
    """Exactly the bytes that were given: text in UTF-8, `os.fsdecode`d bytes as they were, lines joined by LF."""
    if isinstance(text, bytes):
        return text
    if isinstance(text, (list, tuple)) and all(isinstance(line, str) for line in text):
        text = "\n".join(text)
    if not isinstance(text, str):
        raise UsageError(where, f"a {type(text).__name__} is no text; give text, bytes or a list of lines")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise UsageError(where, f"character {error.start} is a lone surrogate, which no byte stands for") from None


def _plain(value: Any, where: str) -> Any:
    """A copy of a value that the codec carries exactly, so that nobody changes it later."""
    try:
        frame = values.encode(value, MAX_VALUE_BYTES, MAX_VALUE_NODES)
        copy = values.decode(frame, MAX_VALUE_BYTES, MAX_VALUE_NODES)
    except (values.TooLarge, values.BadFrame) as error:
        raise UsageError(where, f"cannot travel: {error}") from None
    if b"o" in frame:
        _refuse_opaque(copy, where)
    return copy


def _refuse_opaque(value: Any, where: str) -> None:
    stack = [(value, where)]
    while stack:
        item, place = stack.pop()
        if type(item) is values.Opaque:
            plain = "None, bool, int, float, str, bytes, list, tuple, set, frozenset and dict"
            raise UsageError(place, f"{item.type_name!a} is no plain value; use exactly {plain}")
        if type(item) in (list, tuple):
            stack.extend((inner, f"{place}[{i}]") for i, inner in enumerate(item))
        elif type(item) is dict:
            stack.extend((inner, f"{place}[{ascii(key)[:40]}]") for key, inner in item.items())
            stack.extend((key, f"{place} (a key)") for key in item)
        elif type(item) in (set, frozenset):
            stack.extend((inner, f"{place} (a member)") for inner in item)


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = "; give assert code as a list of texts" if where == "tests" else ""
        raise UsageError(where, f"is not JSON that can be read: {str(error)[:100]}{hint}") from None


def _json_lines(text: object, where: str) -> list[Any]:
    if not isinstance(text, str):
        raise UsageError(where, "must be a text of one JSON value a line")
    lines = text.split("\n")
    return [_json(line, f"{where} line {i + 1}") for i, line in enumerate(lines) if line.strip()]


def _assert_code(code: object, where: str) -> str:
    """Code that always passes by being no code is a mistake: empty text, or a test object that was left as JSON."""
    if not isinstance(code, str) or not code.strip():
        raise UsageError(where, "must be a text with test code")
    if code.lstrip().startswith("{"):
        raise UsageError(where, "looks like a JSON text inside the list; give the object itself")
    return code


def _function_name(name: object, where: str) -> str:
    if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(where, f"{name!r} is no name of a function, such as 'solve' or 'Solution.solve'")
    return name


def _needed(item: dict[Any, Any], where: str, key: str) -> Any:
    if key not in item:
        raise UsageError(f"{where}.{key}", "is missing")
    return item[key]


def _text(item: dict[Any, Any], where: str, key: str) -> str:
    text = item.get(key, "")
    if not isinstance(text, str):
        raise UsageError(f"{where}.{key}", f"a {type(text).__name__} is no text")
    return text


def _refuse_unknown(item: dict[Any, Any], where: str, known: frozenset[str], what: str) -> None:
    for key in item:
        if key not in known and key not in _LABELS:
            raise UsageError(f"{where}.{key}", f"is no key of {what}; it takes {', '.join(sorted(known))}")
