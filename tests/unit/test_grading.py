"""What a run means against a test, on results made by hand: nothing that a guest can write makes a pass of a failure."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jailpy import (
    Efficiency,
    Grade,
    InfrastructureError,
    Limits,
    Outcome,
    Result,
    Scoring,
    Status,
    TextCompare,
    Usage,
    UsageError,
    Verdict,
)
from jailpy.grading import NO_CODE, SKIPPED, failed, judge, judge_refereed, summarise
from jailpy.guest import values
from jailpy.testcase import AssertTest, CallTest, StdioTest

STDIO = StdioTest(b"1 2\n", b"3\n")
CALL = CallTest("add", (1, 2), {}, 3)
ASSERT = AssertTest("assert add(1, 2) == 3", in_process=True)
TESTS = [STDIO, CALL, ASSERT]


def result(
    status: Status = Status.EXITED,
    *,
    code: int | None = 0,
    signal: int | None = None,
    out: bytes = b"",
    err: bytes = b"",
    frame: bytes = b"",
) -> Result:
    return Result(status, code, signal, out, err, Usage(0.5, 0.25, 1 << 20, "cgroup"), {}, frame)


def framed(value: Any) -> bytes:
    body = values.encode(value)
    return len(body).to_bytes(8, "big") + body


def verdict(test: Any, given: Result) -> Verdict:
    outcome = judge(test, given)
    assert outcome.status is given.status
    assert "\n" not in outcome.reason
    assert len(outcome.reason) <= 300
    return outcome.verdict


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8) | st.binary(max_size=8),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=4), st.integers(), st.none()), inner, max_size=4),
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(["value", "error", "syntax", "too_large", "done", "no_test", "missing", "changed", "tell"])
#: What a guest can write to its channel: any bytes, any value, any frame's names with any values.
FRAMES = st.one_of(
    st.binary(max_size=64),
    st.binary(max_size=64).map(lambda body: len(body).to_bytes(8, "big") + body),
    PLAIN.map(framed),
    st.dictionaries(NAMES, PLAIN, max_size=3).map(framed),
    st.builds(lambda frame, at, more: frame[:at] + more, PLAIN.map(framed), st.integers(0, 60), st.binary(max_size=6)),
)


class TestAnyFrame:
    @settings(max_examples=400, deadline=None)
    @given(FRAMES, st.sampled_from([0, 1, 255]))
    def test_is_judged_and_passes_only_with_the_value(self, frame: bytes, code: int) -> None:
        given_result = result(code=code, out=b"4\n", frame=frame)
        for test in (STDIO, CALL):
            if verdict(test, given_result) is Verdict.PASSED:
                assert test is CALL
                assert code == 0
                assert values.decode(frame[8:])["value"] == 3

    @settings(max_examples=400, deadline=None)
    @given(FRAMES, FRAMES, st.sampled_from([0, 1, 255]))
    def test_of_a_program_passes_no_test_code(self, program: bytes, referee: bytes, code: int) -> None:
        """The referee's own frames are its driver's; whatever the program's is, it cannot take the place of one."""
        ours = result(frame=framed({"error": ("AssertionError", "1 != 2")}))
        assert judge_refereed(result(code=code, frame=program), ours, ASSERT).verdict is not Verdict.PASSED
        try:
            outcome = judge_refereed(result(frame=framed({"served": True})), result(code=code, frame=referee), ASSERT)
        except InfrastructureError:
            return
        if outcome.verdict is Verdict.PASSED:
            assert code == 0
            assert values.decode(referee[8:])["done"] is True


class TestStatusDecides:
    @pytest.mark.parametrize("test", TESTS, ids=["stdio", "call", "assert"])
    @pytest.mark.parametrize(
        ("status", "expected"),
        [
            (Status.CPU_TIME, Verdict.TIME_LIMIT),
            (Status.WALL_TIME, Verdict.TIME_LIMIT),
            (Status.MEMORY, Verdict.MEMORY_LIMIT),
            (Status.OUTPUT, Verdict.OUTPUT_LIMIT),
            (Status.SIGNALLED, Verdict.RUNTIME_ERROR),
            (Status.PROCESSES, Verdict.RUNTIME_ERROR),
            (Status.DISK, Verdict.RUNTIME_ERROR),
        ],
    )
    def test_a_right_answer_does_not_help(self, test: Any, status: Status, expected: Verdict) -> None:
        for frame in (framed({"value": 3}), framed({"done": True}), b""):
            given = result(status, code=None, signal=9 if status is Status.SIGNALLED else None, out=b"3\n", frame=frame)
            assert verdict(test, given) is expected

    def test_every_status_of_a_guest_has_a_verdict(self) -> None:
        for status in set(Status) - {Status.UNSET, Status.INTERNAL_ERROR}:
            assert isinstance(verdict(CALL, result(status, frame=framed({"value": 3}))), Verdict)


class TestStdio:
    def test_right_and_wrong(self) -> None:
        assert verdict(STDIO, result(out=b"3\n")) is Verdict.PASSED
        assert verdict(STDIO, result(out=b"4\n")) is Verdict.WRONG_ANSWER
        assert verdict(STDIO, result(out=b"")) is Verdict.WRONG_ANSWER

    def test_the_mode_of_comparison_holds(self) -> None:
        exact = dataclasses.replace(STDIO, compare=TextCompare("exact"))
        assert verdict(STDIO, result(out=b"3  \n\n")) is Verdict.PASSED
        assert verdict(exact, result(out=b"3  \n\n")) is Verdict.WRONG_ANSWER

    def test_an_exit_code_is_an_error_whatever_was_printed(self) -> None:
        outcome = judge(STDIO, result(code=1, out=b"3\n", err=b"Traceback\nValueError: bad\n"))
        assert (outcome.verdict, outcome.reason) == (Verdict.RUNTIME_ERROR, "exit code 1: ValueError: bad")

    def test_stderr_alone_is_no_error(self) -> None:
        assert verdict(STDIO, result(out=b"3\n", err=b"warning\n")) is Verdict.PASSED

    def test_a_frame_is_no_output(self) -> None:
        assert verdict(STDIO, result(frame=framed({"value": "3\n"}))) is Verdict.WRONG_ANSWER
        assert verdict(STDIO, result(frame=framed({"done": True}))) is Verdict.WRONG_ANSWER

    def test_code_that_does_not_compile(self) -> None:
        frame = framed({"syntax": ("SyntaxError", "invalid syntax", "")})
        assert verdict(STDIO, result(code=1, frame=frame)) is Verdict.COMPILE_ERROR

    def test_a_forged_syntax_error_never_helps(self) -> None:
        frame = framed({"syntax": ("SyntaxError", "invalid syntax", "")})
        assert verdict(STDIO, result(code=0, out=b"4\n", frame=frame)) is Verdict.WRONG_ANSWER


class TestCall:
    def test_right_and_wrong(self) -> None:
        assert verdict(CALL, result(frame=framed({"value": 3}))) is Verdict.PASSED
        assert verdict(CALL, result(frame=framed({"value": 4}))) is Verdict.WRONG_ANSWER
        assert verdict(CALL, result(frame=framed({"value": "3"}))) is Verdict.WRONG_ANSWER
        assert verdict(CALL, result(frame=framed({"value": values.Opaque("EqualsAll")}))) is Verdict.WRONG_ANSWER

    def test_errors(self) -> None:
        outcome = judge(CALL, result(code=1, frame=framed({"error": ("ValueError", "bad", "solution.py:3 in add")})))
        assert outcome.verdict is Verdict.RUNTIME_ERROR
        assert outcome.reason == "ValueError: bad at solution.py:3 in add"

    def test_too_large(self) -> None:
        assert verdict(CALL, result(frame=framed({"too_large": "bytes"}))) is Verdict.OUTPUT_LIMIT

    def test_printing_is_no_answer(self) -> None:
        assert verdict(CALL, result(out=b"3\n")) is Verdict.RUNTIME_ERROR


class TestAssert:
    def test_done(self) -> None:
        assert verdict(ASSERT, result(frame=framed({"done": True}))) is Verdict.PASSED

    @pytest.mark.parametrize("value", [1, "true", None, [True], False, {"done": True}], ids=repr)
    def test_almost_done(self, value: Any) -> None:
        assert verdict(ASSERT, result(frame=framed({"done": value}))) is Verdict.RUNTIME_ERROR

    def test_a_failed_assertion_is_a_wrong_answer(self) -> None:
        assert verdict(ASSERT, result(code=1, frame=framed({"error": ("AssertionError", "", "")}))) is Verdict.WRONG_ANSWER
        assert verdict(ASSERT, result(code=1, frame=framed({"error": ("NameError", "", "")}))) is Verdict.RUNTIME_ERROR

    def test_a_value_is_not_done(self) -> None:
        assert verdict(ASSERT, result(frame=framed({"value": True}))) is not Verdict.PASSED


RIGHT = framed({"value": 3})
DONE = framed({"done": True})


class TestForgedFrames:
    """Never a pass: a frame that is anything but exactly one whole value."""

    @pytest.mark.parametrize(
        "frame",
        [
            b"",
            b"\0",
            RIGHT[:-1],
            RIGHT[:8],
            RIGHT[:4],
            RIGHT + b"\0",
            RIGHT + RIGHT,
            framed({"value": 4}) + RIGHT,
            RIGHT[8:],
            (len(RIGHT) - 9).to_bytes(8, "big") + RIGHT[8:],
            (2**63).to_bytes(8, "big") + RIGHT[8:],
            (2**64 - 1).to_bytes(8, "big") + RIGHT[8:],
            (0).to_bytes(8, "big"),
            (0).to_bytes(8, "big") + RIGHT,
            len(b"N").to_bytes(8, "big") + b"N",
            framed(3),
            framed([("value", 3)]),
            framed("value"),
            framed({}),
            framed({"Value": 3}),
            framed({b"value": 3}),
            framed({"values": 3}),
            framed({"error": 3, "values": 3}),
            len(b"d1:s5:valuei1:3N").to_bytes(8, "big") + b"d1:s5:valuei1:3N",
            len(b"d01:s5:valuei1:3").to_bytes(8, "big") + b"d01:s5:valuei1:3",
            len(b"d1:s5:valuei2:03").to_bytes(8, "big") + b"d1:s5:valuei2:03",
            len(b"d2:s5:valuei1:3s5:valuei1:3").to_bytes(8, "big") + b"d2:s5:valuei1:3s5:valuei1:3",
            len(b"d9999999999:").to_bytes(8, "big") + b"d9999999999:",
            len(b"l1:" * 5000).to_bytes(8, "big") + b"l1:" * 5000,
            b"\xff" * 4096,
            b'{"value": 3}',
            b"(dp0\nVvalue\np1\nI3\ns.",
        ],
    )
    def test_of_a_call(self, frame: bytes) -> None:
        assert verdict(CALL, result(frame=frame)) is not Verdict.PASSED

    @pytest.mark.parametrize(
        "frame",
        [b"", DONE[:-1], DONE + b"x", DONE + DONE, framed([("done", True)]), framed("done"), framed(True), framed({})],
    )
    def test_of_an_assert(self, frame: bytes) -> None:
        assert verdict(ASSERT, result(frame=frame)) is not Verdict.PASSED

    def test_syntax_and_value_at_once(self) -> None:
        both = framed({"syntax": ("SyntaxError", "", ""), "value": 3})
        assert verdict(CALL, result(frame=both)) is Verdict.COMPILE_ERROR
        assert verdict(CALL, result(frame=framed({"too_large": "x", "value": 3}))) is Verdict.OUTPUT_LIMIT

    @pytest.mark.parametrize(
        "error",
        [
            *(None, 3, "text", (), (1, 2, 3), ("A",), ("A", "b", "c", "d", "e"), ["A", "b", "c"]),
            ("x" * 10**5, "\n" * 10**5, "\0"),
        ],
        ids=lambda error: repr(error)[:20],
    )
    def test_errors_of_any_shape_are_one_line(self, error: Any) -> None:
        for key in ("error", "syntax", "too_large"):
            assert verdict(CALL, result(code=1, frame=framed({key: error}))) is not Verdict.PASSED

    def test_reasons_carry_no_control_characters(self) -> None:
        error = ("E\x1b[2J", "a\nb\rc\0\u202e", "\ud800")
        outcome = judge(CALL, result(code=1, frame=framed({"error": error})))
        assert outcome.reason.isprintable()
        outcome.reason.encode("utf-8")

    @pytest.mark.parametrize("address", ["7f3aa2c41d90", "55f0c8a1b2c0"])
    def test_reasons_carry_no_addresses(self, address: str) -> None:
        error = ("ValueError", f"<object object at 0x{address}> at 0x{address}", "main.py:1 in f")
        outcome = judge(CALL, result(code=1, frame=framed({"error": error})))
        assert outcome.reason == f"ValueError: <object object at 0x...> at 0x{address} at main.py:1 in f"


LIMITS = Limits(cpu_s=2, wall_s=6.5, memory_mb=256, processes=8, output_mb=0.5, disk_mb=16)
TRACEBACK = b"""noise
Traceback (most recent call last):
  File "/work/main.py", line 9, in <module>
    solve()
  File "/work/main.py", line 5, in solve
    return 1 / 0
           ~~^~~
ZeroDivisionError: division by zero
"""
CHECK = AssertTest(
    "def check(f):\n    assert f(1) == 2\n    assert (\n        f(2)\n        == 3\n    )\ncheck(add)", prelude="x = 1"
)


def reason(test: Any, given: Result) -> str:
    verdict(test, given)
    return judge(test, given, LIMITS).reason


class TestReasons:
    @pytest.mark.parametrize(
        ("status", "line"),
        [
            (Status.CPU_TIME, "CPU time limit of 2 s (0.25 s used)"),
            (Status.WALL_TIME, "wall time limit of 6.5 s (0.50 s passed, 0.25 s of CPU time used)"),
            (Status.MEMORY, "memory limit of 256 MiB (1 MiB at the peak)"),
            (Status.OUTPUT, "output limit of 0.5 MiB"),
            (Status.PROCESSES, "process limit of 8 processes and threads"),
            (Status.DISK, "disk limit of 16 MiB"),
        ],
    )
    def test_which_limit_and_what_was_used(self, status: Status, line: str) -> None:
        assert reason(STDIO, result(status, code=None)) == line
        assert judge_refereed(result(status, code=None), result(), CHECK, LIMITS).reason == line

    def test_which_signal(self) -> None:
        assert reason(STDIO, result(Status.SIGNALLED, code=None, signal=11)) == "killed by SIGSEGV"
        given = result(Status.SIGNALLED, code=None, signal=6, err=b"x\nterminate called\n")
        assert reason(CALL, given) == "killed by SIGABRT: terminate called"

    @pytest.mark.parametrize(
        ("stderr", "line"),
        [
            (b"", "nothing on stderr"),
            (b"\n \n", "nothing on stderr"),
            (b"one\ntwo\n", "two"),
            (TRACEBACK, "ZeroDivisionError: division by zero at main.py:5 in solve"),
            (TRACEBACK + b"and more\n", "ZeroDivisionError: division by zero at main.py:5 in solve"),
            (b'  File "/w/main.py", line 2, in <module>\n    x\nE: a\n  b\nc\n', "E: a at main.py:2"),
            (
                b'  File "/w/main.py", line 2\n    x(\n     ^\nSyntaxError: never closed\n',
                "SyntaxError: never closed at main.py:2",
            ),
            (b'  File "/w/main.py", line 2, in f\n' + b"x" * 5000, "x" * 197 + "... at main.py:2 in f"),
        ],
    )
    def test_the_last_error_on_stderr(self, stderr: bytes, line: str) -> None:
        assert reason(STDIO, result(code=1, err=stderr)) == f"exit code 1: {line}"

    @pytest.mark.parametrize(
        ("error", "line"),
        [
            (("AssertionError", "", "<test>:2 in check"), "AssertionError in line 2 of the test: assert f(1) == 2"),
            (("AssertionError", "", "<test>:3 in check"), "AssertionError in line 3 of the test: assert ( f(2) == 3 )"),
            (("AssertionError", "2 != 3", "<test>:2 in check"), "AssertionError: 2 != 3 in line 2 of the test"),
            (("NameError", "no add", "<test>:7 in <module>"), "NameError: no add in line 7 of the test"),
            (("AssertionError", "", "<prelude>:1 in g"), "AssertionError in line 1 of the test's prelude: x = 1"),
            (("AssertionError", "", "/work/main.py:4 in f"), "AssertionError at main.py:4 in f"),
            (("AssertionError", "", "<test>:0 in check"), "AssertionError in line 0 of the test"),
            (("AssertionError", "", "<test>:99999999 in check"), "AssertionError in line 99999999 of the test"),
            (("AssertionError", "", ""), "AssertionError"),
            (("AssertionError", "", "<test>:x"), "AssertionError at <test>:x"),
        ],
    )
    def test_which_line_of_the_test_failed(self, error: Any, line: str) -> None:
        frame = framed({"error": error})
        assert reason(CHECK, result(code=1, frame=frame)) == line
        if error[2].startswith("<test>:") and "in" in error[2]:
            refereed = framed({"error": (*error[:2], error[2].replace("<test>", "/work/main.py"))})
            assert judge_refereed(result(), result(code=1, frame=refereed), CHECK, LIMITS).reason == line

    def test_long_lines_are_cut(self) -> None:
        test = AssertTest("assert f(" + "1, " * 500 + ")")
        line = reason(test, result(code=1, frame=framed({"error": ("AssertionError", "", "<test>:1 in <module>")})))
        assert line.endswith("1, ...")
        assert len(line) < 200


OUTCOME = Outcome(Verdict.PASSED, "", Status.EXITED, 0.5, 0.25, 1 << 20)


#: Lone surrogates too, but no two that JSON takes for one character.
texts = st.text(st.characters(exclude_categories=())).filter(
    lambda text: text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
ids = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(10**300, 10**4000) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
outcomes = st.builds(Outcome, reason=texts, wall_s=numbers, cpu_s=numbers) | st.sampled_from([SKIPPED, NO_CODE])
grades = st.builds(
    Grade,
    reward=st.none() | numbers,
    outcomes=st.lists(outcomes, max_size=3).map(tuple),
    enforced=st.dictionaries(texts, texts, max_size=3),
    error=st.none() | texts,
    id=ids,
)


class TestGrade:
    def test_all_passed(self) -> None:
        grade = summarise([STDIO, CALL], [OUTCOME, OUTCOME], Scoring.seed(), {"cgroup": "on"})
        assert (grade.reward, grade.verdict, grade.in_process, grade.error) == (1.0, Verdict.PASSED, False, None)

    def test_the_first_failure_names_the_verdict(self) -> None:
        bad = [dataclasses.replace(OUTCOME, verdict=each) for each in (Verdict.TIME_LIMIT, Verdict.WRONG_ANSWER)]
        grade = summarise([STDIO, STDIO, STDIO], [OUTCOME, *bad], Scoring.seed(), {})
        assert grade.verdict is Verdict.TIME_LIMIT
        assert grade.reward == pytest.approx((1 - 1 + 0) / 3)

    def test_weights(self) -> None:
        wrong = dataclasses.replace(OUTCOME, verdict=Verdict.WRONG_ANSWER)
        heavy = dataclasses.replace(STDIO, weight=3.0)
        assert summarise([heavy, STDIO], [OUTCOME, wrong], Scoring.fraction(), {}).reward == 0.75

    def test_in_process_is_told(self) -> None:
        assert summarise([ASSERT], [OUTCOME], Scoring.seed(), {}).in_process is True
        assert summarise([CHECK], [OUTCOME], Scoring.seed(), {}).in_process is False

    def test_a_test_that_was_not_judged_has_no_reward(self) -> None:
        lost = dataclasses.replace(OUTCOME, verdict=Verdict.INTERNAL_ERROR)
        with pytest.raises(InfrastructureError):
            summarise([STDIO, STDIO], [OUTCOME, lost], Scoring.seed(), {})

    def test_failed(self) -> None:
        grade = failed(InfrastructureError("no helper"), id=7)
        assert (grade.reward, grade.verdict, grade.id) == (None, Verdict.INTERNAL_ERROR, 7)
        assert grade.error == "InfrastructureError: no helper"

    @settings(max_examples=200, deadline=None)
    @given(grades)
    def test_every_grade_comes_back_from_json(self, grade: Grade) -> None:
        text = grade.to_json()
        assert text.isascii()
        assert "\n" not in text
        again = Grade.from_json(text)
        assert again == grade
        assert [type(getattr(again, field.name)) for field in dataclasses.fields(Grade)] == [
            type(getattr(grade, field.name)) for field in dataclasses.fields(Grade)
        ]

    def test_ids_that_json_cannot_carry_are_named(self) -> None:
        for wrong in (object(), b"x", float("nan"), 10**5000, {(1, 2): 3}):
            with pytest.raises(UsageError, match="id"):
                failed(InfrastructureError("x"), id=[wrong]).to_json()
        assert Grade.from_json(failed(InfrastructureError("x"), id=(1, 2)).to_json()).id == [1, 2]

    def test_json(self) -> None:
        bad = dataclasses.replace(OUTCOME, verdict=Verdict.RUNTIME_ERROR, reason='quotes " and \\ and \u2026')
        for grade in (
            summarise([STDIO, CALL], [OUTCOME, bad], Scoring.seed(), {"cgroup": "on"}, id="a"),
            failed(InfrastructureError("x")),
        ):
            assert Grade.from_json(grade.to_json()) == grade
            assert grade.efficiency is None

    def test_json_of_what_was_measured(self) -> None:
        found = Efficiency("growth", 1.0, 0.9, 1.1, True, 0.0, ("n", "n log n"), "grows")
        grade = summarise([CALL], [OUTCOME], Scoring.growth("1"), {}, efficiency=found)
        assert grade.reward == 0.5
        assert Grade.from_json(grade.to_json()) == grade

    def test_groups_count_whole(self) -> None:
        wrong = dataclasses.replace(OUTCOME, verdict=Verdict.WRONG_ANSWER)
        tests = [dataclasses.replace(STDIO, group="a"), dataclasses.replace(CALL, group="a"), CALL]
        assert summarise(tests, [OUTCOME, wrong, OUTCOME], Scoring.fraction(), {}).reward == pytest.approx(1 / 3)
