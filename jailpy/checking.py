"""Tests of type `check`: the program runs as in a stdio test, then a checker decides whether its output is right.

A checker is one of

- a trusted callable, in a worker process of ours (`jailpy.workers`). Where it has parameters named `input`, `output` or
  `answer`, and needs no others, it is called with those by name, so it may leave out what it does not need; otherwise
  it is called as `checker(input, output, answer)`. Many checks run in one process, and several at once in different ones,
  so it keeps nothing from one check to the next. What it prints goes to stderr. It has `checker_s` seconds for a check.
- a text that defines `check(input, output, answer)`, called by position, in a jail of its own.
- a program, `{"program": code, "language": "python"}`, in a jail of its own, started as testlib's checkers are:
  argv[1], [2] and [3] are the files with input, output and answer.

`input`, `output` and `answer` are what the program read, what it printed, and the test's `expected_output`. As texts they
are UTF-8, and bytes that are none become lone surrogates (`surrogateescape`), so that none is lost.

A callable and `check` return True, False, or a tuple of one of them and the reason, a text. A program's exit code says
(testlib.h): 0 right; 1 wrong answer, 2 presentation error, 4 dirt, 8 unexpected end of file, which are all wrong_answer,
with the last line of stderr as the reason; 7 partial points. A test has passed or not, so partial points are
wrong_answer too, and the reason tells them.

Everything else is a checker's failure: CheckerError, and never a reward. That is exit code 3 (testlib's own word for
it), every other value or exit code, an uncaught exception (of a program too, though Python gives that exit code 1), a
limit of the checker, a crash. The limits of a checker in a jail are those of the run, but for `checker_limits`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jailpy import grading
from jailpy.errors import CheckerError
from jailpy.grading import Outcome
from jailpy.limits import Limits
from jailpy.programs import Task, judge_task
from jailpy.reasons import error_line, last_error, one_line
from jailpy.status import Result, Status
from jailpy.testcase import CheckTest, Judge
from jailpy.verdict import Verdict
from jailpy.workers import Carried, Workers

#: Input, output and answer together; more does not travel to a checker.
MAX_TEXTS = 64 << 20

#: Exit codes of a judge for which the program is wrong.
WRONG = {1: "wrong answer", 2: "presentation error", 4: "dirt", 7: "partial points", 8: "unexpected end of file"}

Said = tuple[bool, str]


def judge(
    test: CheckTest, result: Result, limits: Limits, workers: Workers, run: Callable[[Task, Limits], Result]
) -> Outcome:
    """The verdict on a program that ran under `limits`. CheckerError where the checker gives none."""
    failure = grading.failure(result)
    if failure is not None:
        return grading.outcome(result, *failure)
    size = len(test.input) + len(result.stdout) + len(test.expected_output)
    if size > MAX_TEXTS:
        raise CheckerError(f"{size} bytes of input, output and answer; a checker takes at most {MAX_TEXTS}")
    if isinstance(test.checker, Carried):
        texts = {"input": test.input, "output": result.stdout, "answer": test.expected_output}
        right, reason = _verdict_of(workers.check(test.checker, texts, test.checker_s))
    else:
        right, reason = _ask(test, test.checker, result.stdout, size, limits, run)
    if right:
        return grading.outcome(result, Verdict.PASSED, "")
    return grading.outcome(result, Verdict.WRONG_ANSWER, reason or "the checker says that the output is wrong")


def _ask(
    test: CheckTest, checker: Judge, output: bytes, size: int, limits: Limits, run: Callable[[Task, Limits], Result]
) -> Said:
    its = checker.within(limits)
    if not checker.function:
        its = replace(its, disk_mb=max(its.disk_mb, (size >> 20) + 2))  # the files are no work of the checker's
    result = run(judge_task(checker, test.input, output, test.expected_output), its)
    return _returned(result) if checker.function else _exited(result)


def _verdict_of(value: Any) -> Said:
    """A checker's value, exactly one of those that are allowed."""
    if type(value) is bool:
        return value, ""
    if type(value) is tuple and len(value) == 2 and type(value[0]) is bool and type(value[1]) is str:
        return value
    kind = getattr(value, "type_name", type(value).__name__)
    raise CheckerError(f"the checker returned {kind}, which is not True, False or a tuple of one of them and a text")


def _returned(result: Result) -> Said:
    if result.status is not Status.EXITED:
        raise CheckerError(f"the checker ended by {result.describe()}")
    frame = grading.read_frame(result)
    if isinstance(frame, str):
        raise CheckerError(one_line(f"the checker {frame}"))
    if "value" in frame:
        return _verdict_of(frame["value"])
    error = frame.get("error") or frame.get("syntax")
    raise CheckerError(one_line(f"the checker raised {error_line(error)}"))


def _exited(result: Result) -> Said:
    said = judge_said(result, "checker")
    if said == 0:
        return True, ""
    if said not in WRONG:
        reason = one_line(last_error(result.stderr))
        raise CheckerError(f"the checker ended with exit code {said}: {reason}")
    return False, f"{WRONG[said]}: {last_error(result.stderr)}"


def judge_said(result: Result, who: str) -> int:
    """The exit code that a judge in a jail chose. CheckerError where it chose none."""
    if result.status is not Status.EXITED or result.exit_code is None:
        raise CheckerError(f"the {who} ended by {result.describe()}")
    error = uncaught(result)
    if error is not None:
        raise CheckerError(one_line(f"the {who} raised {error_line(error)}"))
    return result.exit_code


def uncaught(result: Result) -> Any:
    """What a judge's program raised and did not catch, or why it does not compile; None where it ended by itself."""
    frame = grading.read_frame(result) if result.value_frame else {}
    if isinstance(frame, str):
        return ("", frame, "")
    return frame.get("error") or frame.get("syntax")
