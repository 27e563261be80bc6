"""A runner's report to a verdict: every expected test by its name. Pure; a report is data that may be anything."""

from __future__ import annotations

from typing import Any

from jailpy.project import ProjectTest
from jailpy.reasons import error_line
from jailpy.verdict import Verdict

_WRONG = ("AssertionError", "Failed")  # the second is pytest.fail's
_SYNTAX = ("SyntaxError", "IndentationError", "TabError")
_WORDS = {
    "skipped": "was skipped, or expected to fail",
    "twice": "is there more than once",
    "unfinished": "was not finished",
    "failed": "failed",
}


def judge_report(frame: dict[Any, Any], test: ProjectTest, said: str) -> tuple[Verdict, str]:
    """Passed where each expected test is there once and has passed, nothing was broken and the runner ended well.

    Otherwise why, by the first thing that was broken, or else by the first expected test that has not passed.
    `said`: the runner's last words."""
    read = _read(frame)
    if read is None:
        return Verdict.RUNTIME_ERROR, "the report cannot be read"
    tests, broken, code = read
    if broken:
        where, error = broken[0]
        verdict = Verdict.COMPILE_ERROR if error[0] in _SYNTAX else Verdict.RUNTIME_ERROR
        return verdict, f"{where}: {error_line(error)}"
    outcomes = {name: (outcome, error) for name, outcome, error in tests}
    for name in test.expected:
        if name not in outcomes:
            return Verdict.RUNTIME_ERROR, f"{name} was not run" + (f"; {_ended(code, said)}" if code else "")
        outcome, error = outcomes[name]
        if outcome != "passed":
            verdict = Verdict.WRONG_ANSWER if error[0] in _WRONG else Verdict.RUNTIME_ERROR
            return verdict, f"{name} {_WORDS.get(outcome, 'did not pass')}" + (f": {error_line(error)}" if error[0] else "")
    if len(outcomes) != len(tests) or code != 0:
        return Verdict.RUNTIME_ERROR, _ended(code, said)
    return Verdict.PASSED, ""


def _ended(code: int, said: str) -> str:
    return f"pytest ended with exit code {code}: {said}"


_Error = tuple[str, str, str]


def _read(frame: dict[Any, Any]) -> tuple[list[tuple[str, str, _Error]], list[tuple[str, _Error]], int] | None:
    tests, broken, code = frame.get("tests"), frame.get("broken"), frame.get("exit")
    if type(tests) is not tuple or type(broken) is not tuple or type(code) is not int:
        return None
    for row, size in (*((row, 3) for row in tests), *((row, 2) for row in broken)):
        if type(row) is not tuple or len(row) != size or not all(type(part) is str for part in row[:-1]):
            return None
        if type(row[-1]) is not tuple or len(row[-1]) != 3 or not all(type(part) is str for part in row[-1]):
            return None
    return list(tests), list(broken), code
