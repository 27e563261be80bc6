"""Every form in which tests come, and the mistakes that are named."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jailpy.compare import TextCompare, ValueCompare
from jailpy.errors import UsageError
from jailpy.limits import Limits
from jailpy.testcase import AssertTest, CallTest, CheckTest, InteractTest, Judge, StdioTest, parse_tests


def one(test: object, **options: bool) -> Any:
    (parsed,) = parse_tests([test], **options)
    return parsed


def test_seed_form() -> None:
    tests = [{"input": "1 2\r\n", "expected_output": "3"}, {"expected_output": b"\xff"}]
    expected = (StdioTest(b"1 2\r\n", b"3"), StdioTest(b"", b"\xff"))
    assert parse_tests(tests) == expected
    assert parse_tests(tuple(tests)) == expected
    assert parse_tests(expected) == expected
    assert parse_tests(tests[0]) == expected[:1]
    assert parse_tests(json.dumps(tests[:1])) == expected[:1]


def test_stdio_bytes_are_kept() -> None:
    assert one({"type": "stdio", "input": "\udcff\u20ac", "expected_output": ""}).input == b"\xff\xe2\x82\xac"
    assert one({"input": ["a", "b"], "expected_output": ["c", ""]}) == StdioTest(b"a\nb", b"c\n")
    test = one({"input": "", "expected_output": "", "compare": {"mode": "float", "abs": 1}, "weight": 2, "id": 5})
    assert test == StdioTest(b"", b"", TextCompare("float", abs=1), 2.0)


def test_call_form() -> None:
    test = one({"function": "Solution.f", "args": [[1]], "kwargs": {"k": None}, "expected": {1: (2,)}, "prelude": "x"})
    assert test == CallTest("Solution.f", ([1],), {"k": None}, {1: (2,)}, ValueCompare(), "x")
    test = one({"type": "call", "function": "f", "args_text": '[1, 2]\n"a"\n', "expected": 1, "compare": "float"})
    assert test == CallTest("f", ([1, 2], "a"), {}, 1, ValueCompare("float"))
    assert one({"function": "f", "expected": None}).args == ()
    assert one({"function": "f", "args": [10**5000, math.inf, {1, 2}, b"x"], "expected": 0}).args[2] == {1, 2}


def test_check_forms() -> None:
    test = one({"type": "check", "checker": "def check(i, o, a): ...", "input": "1", "expected_output": "2"})
    assert test == CheckTest(b"1", Judge(b"def check(i, o, a): ...", function=True), b"2")
    program = {"program": b"x", "language": "python"}
    test = one({"checker": program, "checker_limits": {"cpu_s": 9}, "weight": 2})
    assert test == CheckTest(b"", Judge(b"x", limits=(("cpu_s", 9),)), weight=2.0)
    assert test.checker.within(Limits(cpu_s=1, wall_s=2)) == Limits(cpu_s=9, wall_s=2)
    whole = one({"checker": program, "checker_limits": Limits(disk_mb=5)})
    assert whole.checker.within(Limits(cpu_s=1)) == Limits(disk_mb=5)
    assert parse_tests([test]) == (test,)


@pytest.mark.parametrize(
    ("checker", "names"),
    [
        (lambda input, output, answer: True, ("input", "output", "answer")),
        (lambda answer, output, digits=5: True, ("output", "answer")),
        (lambda *, output: True, ("output",)),
        (lambda i, o, a: True, None),
        (lambda *texts: True, None),
        (lambda i, o, a=None, b=None: True, None),
        (lambda input, output, expected: True, None),
        (lambda input, output, /, answer: True, None),
        (max, None),
    ],
)
def test_how_a_callable_is_called(checker: Any, names: tuple[str, ...] | None) -> None:
    assert one({"checker": checker}).checker.names == names


def test_a_checker_of_many_tests_is_pickled_once() -> None:
    def check(output: str) -> bool:
        return output == "x"

    first, second = parse_tests([{"checker": check}, {"checker": check, "checker_s": 5}])
    assert first.checker is second.checker  # type: ignore[union-attr]
    assert second.checker_s == 5.0  # type: ignore[union-attr]


def test_interact_forms() -> None:
    test = one({"type": "interact", "interactor": "x", "input": "1", "answer": "2"})
    assert test == InteractTest(Judge(b"x"), b"1", b"2")
    test = one({"interactor": {"program": "x"}, "interactor_limits": {"wall_s": 3}, "weight": 0.5})
    assert test == InteractTest(Judge(b"x", limits=(("wall_s", 3),)), weight=0.5)


def test_values_are_copied() -> None:
    args: list[Any] = [[1]]
    test = one({"function": "f", "args": args, "expected": args})
    args[0].append(2)
    assert test.args == ([1],)
    assert test.expected == [[1]]


def test_assert_forms() -> None:
    assert parse_tests(["assert f(1) == 2", "assert f(2) == 3"]) == (
        AssertTest("assert f(1) == 2"),
        AssertTest("assert f(2) == 3"),
    )
    assert one("assert f()", in_process=True).in_process
    assert not one({"code": "assert f()", "in_process": False}, in_process=True).in_process
    assert one({"type": "assert", "code": "check(f)", "prelude": "def check(f): ...", "note": ""}).prelude


def test_mixed_lists() -> None:
    group = {"inputs": ["1", "2"], "outputs": ["1\n", "2\n"]}
    tests = parse_tests([{"input": "", "expected_output": ""}, "assert f()", group, {"function": "f", "expected": 1}])
    assert [type(test) for test in tests] == [StdioTest, AssertTest, StdioTest, StdioTest, CallTest]


def test_groups_of_programs() -> None:
    group: dict[str, Any] = {"inputs": ["1\n", ["2", "3"]], "outputs": ["a\n", ["b", "c"]], "fn_name": None}
    expected = (StdioTest(b"1\n", b"a\n"), StdioTest(b"2\n3", b"b\nc"))
    assert parse_tests(group) == expected
    assert parse_tests(json.dumps(group)) == expected
    (_, second) = parse_tests(group | {"fn_name": "", "compare": "tokens"})
    assert second == StdioTest(b"2\n3", b"b\nc", TextCompare("tokens"))


def test_groups_of_calls_with_texts() -> None:
    group = {"fn_name": "add", "inputs": ["[1]\n2", '"a"\n{"1": 2}\n', ""], "outputs": ["[3]", '["x"]', "[null]"]}
    tests = parse_tests(group)
    assert tests == (
        CallTest("add", ([1], 2), {}, [3]),
        CallTest("add", ("a", {"1": 2}), {}, ["x"]),
        CallTest("add", (), {}, [None]),
    )
    assert parse_tests({"fn_name": "f", "inputs": ["1"], "outputs": [[2]]}) == (CallTest("f", (1,), {}, [2]),)


def test_groups_of_calls_with_lists() -> None:
    wrapped = ValueCompare(one_item_list=True)
    assert parse_tests({"fn_name": "f", "inputs": [[1, 2], [3, 4]], "outputs": [[3], [[7]]]}) == (
        CallTest("f", (1, 2), {}, [3], wrapped),
        CallTest("f", (3, 4), {}, [[7]], wrapped),
    )
    assert parse_tests({"fn_name": "f", "inputs": [[1], ["[2]"]], "outputs": [[3], "[4]"]}) == (
        CallTest("f", (1,), {}, [3]),
        CallTest("f", ("[2]",), {}, "[4]"),
    )


class Odd(list):  # type: ignore[type-arg]
    pass


def unpicklable() -> Any:
    held = (number for number in range(3))  # what has begun to run cannot travel
    return lambda output: output in held


CHECK: dict[str, Any] = {"checker": lambda output: True}
CYCLE: list[Any] = []
CYCLE.append(CYCLE)
STDIO = {"input": "", "expected_output": ""}
CALL = {"function": "f", "expected": 1}
GROUP: dict[str, Any] = {"inputs": ["1"], "outputs": ["2"]}


@pytest.mark.parametrize(
    ("tests", "field"),
    [
        ([], "tests"),
        ({}, "tests"),
        ("[]", "tests"),
        ("assert f() == 1", "tests"),
        ("[" * 100_000, "tests"),
        ("5", "tests"),
        (None, "tests"),
        (5, "tests"),
        ({"inputs": [], "outputs": []}, "tests"),
        ([5], "tests[0]"),
        ([STDIO, None], "tests[1]"),
        ([[STDIO]], "tests[0]"),
        ([""], "tests[0]"),
        ([" \n"], "tests[0]"),
        ([json.dumps(STDIO)], "tests[0]"),
        ([{"type": "check", "input": ""}], "tests[0].checker"),
        ([{"checker": ""}], "tests[0].checker"),
        ([{"checker": 5}], "tests[0].checker"),
        ([{"checker": ["x"]}], "tests[0].checker"),
        ([{"checker": {"language": "python"}}], "tests[0].checker.program"),
        ([{"checker": {"program": ""}}], "tests[0].checker"),
        ([{"checker": {"program": "x", "language": "cobol"}}], "tests[0].checker.language"),
        ([{"checker": {"program": "x", "code": "x"}}], "tests[0].checker.code"),
        ([{"checker": lambda output, more: True}], "tests[0].checker"),
        ([{"checker": lambda: True}], "tests[0].checker"),
        ([{"checker": unpicklable()}], "tests[0].checker"),
        ([CHECK | {"checker_s": 0}], "tests[0].checker_s"),
        ([CHECK | {"checker_s": math.inf}], "tests[0].checker_s"),
        ([CHECK | {"checker_s": True}], "tests[0].checker_s"),
        ([CHECK | {"checker_s": "5"}], "tests[0].checker_s"),
        ([CHECK | {"checker_limits": {"cpu_s": 1}}], "tests[0].checker_limits"),
        ([{"checker": "x", "checker_s": 5}], "tests[0].checker_s"),
        ([{"checker": "x", "checker_limits": {"cpu": 1}}], "tests[0].checker_limits.cpu"),
        ([{"checker": "x", "checker_limits": {"cpu_s": -1}}], "tests[0].checker_limits.cpu_s"),
        ([{"checker": "x", "checker_limits": 5}], "tests[0].checker_limits"),
        ([{"checker": "x", "expected_output": 5}], "tests[0].expected_output"),
        ([{"checker": "x", "input": 5}], "tests[0].input"),
        ([{"checker": "x", "compare": "exact"}], "tests[0].compare"),
        ([{"checker": "x", "weight": -1}], "tests[0].weight"),
        ([{"type": "interact"}], "tests[0].interactor"),
        ([{"interactor": lambda: 0}], "tests[0].interactor"),
        ([{"interactor": "x", "answer": 5}], "tests[0].answer"),
        ([{"interactor": "x", "input": 5}], "tests[0].input"),
        ([{"interactor": "x", "expected_output": ""}], "tests[0].expected_output"),
        ([{"interactor": "x", "interactor_limits": {"wall_s": 0}}], "tests[0].interactor_limits.wall_s"),
        ([{"files": {}, "command": "x"}], "tests[0].command"),
        ([{"type": "stdioo"}], "tests[0].type"),
        ([{"type": []}], "tests[0].type"),
        ([{"weight": 1}], "tests[0]"),
        ([{"input": "1"}], "tests[0].expected_output"),
        ([{"input": "1", "output": "2"}], "tests[0].output"),
        ([STDIO | {"repeat": 3}], "tests[0].repeat"),
        ([STDIO | {"input": 5}], "tests[0].input"),
        ([STDIO | {"input": [1]}], "tests[0].input"),
        ([STDIO | {"expected_output": None}], "tests[0].expected_output"),
        ([STDIO, STDIO | {"input": "\ud800"}], "tests[1].input"),
        ([STDIO | {"compare": "value"}], "tests[0].compare.mode"),
        ([STDIO | {"weight": -1}], "tests[0].weight"),
        ([STDIO | {"weight": math.nan}], "tests[0].weight"),
        ([STDIO | {"weight": "1"}], "tests[0].weight"),
        ([STDIO | {"weight": 0}], "tests"),
        ([StdioTest(b"", b"", weight=-1)], "tests[0].weight"),
        ([STDIO | {"function": "f"}], "tests[0].input"),
        ([{"function": "f"}], "tests[0].expected"),
        ([{"type": "call", "expected": 1}], "tests[0].function"),
        ([CALL | {"function": "f()"}], "tests[0].function"),
        ([CALL | {"function": "a..b"}], "tests[0].function"),
        ([CALL | {"function": 5}], "tests[0].function"),
        ([CALL | {"args": 5}], "tests[0].args"),
        ([CALL | {"args": "12"}], "tests[0].args"),
        ([CALL | {"args": [], "args_text": ""}], "tests[0].args_text"),
        ([CALL | {"args_text": "1\nx"}], "tests[0].args_text line 2"),
        ([CALL | {"args_text": 5}], "tests[0].args_text"),
        ([CALL | {"kwargs": {1: 2}}], "tests[0].kwargs"),
        ([CALL | {"kwargs": []}], "tests[0].kwargs"),
        ([CALL | {"args": [1, {"k": [object()]}]}], "tests[0].args[1]['k'][0]"),
        ([CALL | {"kwargs": {"k": Odd()}}], "tests[0].kwargs['k']"),
        ([CALL | {"expected": 1j}], "tests[0].expected"),
        ([CALL | {"expected": {1j}}], "tests[0].expected (a member)"),
        ([CALL | {"expected": {1j: 1}}], "tests[0].expected (a key)"),
        ([CALL | {"expected": CYCLE}], "tests[0].expected"),
        ([CALL | {"prelude": 5}], "tests[0].prelude"),
        ([{"code": 5}], "tests[0].code"),
        ([{"code": ""}], "tests[0].code"),
        ([{"code": "x", "in_process": 1}], "tests[0].in_process"),
        (GROUP | {"outputs": []}, "tests.outputs"),
        (GROUP | {"inputs": "1"}, "tests.inputs"),
        ({"inputs": ["1"]}, "tests.outputs"),
        (GROUP | {"prelude": "x"}, "tests.prelude"),
        (GROUP | {"assert_case": []}, "tests.assert_case"),
        (GROUP | {"inputs": [5]}, "tests.inputs[0]"),
        (GROUP | {"outputs": [5]}, "tests.outputs[0]"),
        (GROUP | {"fn_name": "f", "inputs": ["x"]}, "tests.inputs[0] line 1"),
        (GROUP | {"fn_name": "f", "inputs": [5]}, "tests.inputs[0]"),
        (GROUP | {"fn_name": "f", "outputs": ["x"]}, "tests.outputs[0]"),
        (GROUP | {"fn_name": 5}, "tests.fn_name"),
        ([GROUP | {"fn_name": "f", "inputs": [[1j]]}], "tests[0].inputs[0][0]"),
    ],
    ids=lambda item: item if type(item) is str and len(item) < 50 else "tests",
)
def test_mistakes_are_named(tests: object, field: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_tests(tests)
    assert caught.value.field == field


def test_messages_say_what_to_do() -> None:
    with pytest.raises(UsageError, match="it takes compare, expected_output, group, input, size, type, weight"):
        parse_tests([STDIO | {"repeat": 1}])
    with pytest.raises(UsageError, match="must be a list of the tests that must pass, at least one"):
        parse_tests([{"type": "project", "files": {}, "expected": []}])
    with pytest.raises(UsageError, match=r"a text that defines check\(input, output, answer\)"):
        parse_tests([{"checker": 5}])
    with pytest.raises(UsageError, match=r"it is called as checker\(input, output, answer\)"):
        parse_tests([{"checker": lambda output, more: True}])
    with pytest.raises(UsageError, match="let it hold plain data only"):
        parse_tests([{"checker": unpicklable()}])
    with pytest.raises(UsageError, match="give assert code as a list"):
        parse_tests("assert f() == 1")
    with pytest.raises(UsageError, match="'Odd' is no plain value"):
        parse_tests([CALL | {"args": [Odd()]}])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["input", "code", "args"]), inner),
    max_leaves=10,
)


@settings(max_examples=50, deadline=None)
@given(json_values | st.lists(st.dictionaries(st.sampled_from(["type", *STDIO, *CALL, *GROUP, "code"]), json_values)))
def test_anything_parses_or_is_a_usage_error(tests: object) -> None:
    try:
        assert parse_tests(tests)
    except UsageError as error:
        assert error.field.startswith("tests")


def test_groups_and_sizes() -> None:
    tests = [
        {"input": "", "expected_output": "", "group": 1, "size": 10},
        {"function": "f", "expected": 0, "group": "1"},
        {"code": "assert f", "group": "b", "weight": 2},
    ]
    assert [(test.weight, test.group, test.size) for test in parse_tests(tests)] == [
        (1.0, "1", 10.0),
        (1.0, "1", None),
        (2.0, "b", None),
    ]
    rows = {"inputs": ["1", "2"], "outputs": ["1", "2"], "group": "g", "sizes": [10, None]}
    for row in (rows, {**rows, "fn_name": "f"}):
        assert [(test.group, test.size) for test in parse_tests(row)] == [("g", 10.0), ("g", None)]
    assert one(StdioTest(b"", b"", group=7)).group == "7"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("test", "field"),
    [
        ({"expected_output": "", "group": ""}, "tests[0].group"),
        ({"expected_output": "", "group": True}, "tests[0].group"),
        ({"expected_output": "", "group": 1.5}, "tests[0].group"),
        ({"expected_output": "", "size": 1}, "tests[0].size"),
        ({"inputs": ["1"], "outputs": ["1"], "sizes": 5}, "tests[0].sizes"),
        ({"inputs": ["1"], "outputs": ["1"], "sizes": []}, "tests[0].sizes"),
        ({"inputs": ["1"], "outputs": ["1"], "sizes": ["x"]}, "tests[0].sizes[0]"),
        (StdioTest(b"", b"", group=[]), "tests[0].group"),  # type: ignore[arg-type]
        (CallTest("f", (), {}, 0, size=-1), "tests[0].size"),
    ],
)
def test_bad_groups_and_sizes(test: object, field: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_tests([test])
    assert caught.value.field == field
