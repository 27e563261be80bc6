"""Results to verdicts, verdicts to a grade. Pure: expected values are compared here, outside of every jail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jailpy.compare import compare_text, compare_value
from jailpy.errors import UsageError
from jailpy.guest import values
from jailpy.scoring import Scoring
from jailpy.status import Result, Status
from jailpy.testcase import MAX_VALUE_BYTES, MAX_VALUE_NODES, AssertTest, CallTest, StdioTest, Test
from jailpy.verdict import Verdict

_BY_STATUS = {
    Status.CPU_TIME: Verdict.TIME_LIMIT,
    Status.WALL_TIME: Verdict.TIME_LIMIT,
    Status.MEMORY: Verdict.MEMORY_LIMIT,
    Status.OUTPUT: Verdict.OUTPUT_LIMIT,
    Status.SIGNALLED: Verdict.RUNTIME_ERROR,
    Status.PROCESSES: Verdict.RUNTIME_ERROR,
    Status.DISK: Verdict.RUNTIME_ERROR,
}
_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test: its verdict, why in one line, and what the jail used (seconds, bytes)."""

    verdict: Verdict
    reason: str
    status: Status
    wall_s: float
    cpu_s: float
    memory_peak: int


#: A test that did not run because an earlier one had decided.
SKIPPED = Outcome(Verdict.SKIPPED, "an earlier test failed", Status.UNSET, 0.0, 0.0, 0)


@dataclass(frozen=True, slots=True)
class Grade:
    """A program's reward and the evidence behind it.

    reward      the number; None where the judging failed, which `error` then explains
    verdict     passed when every test passed, otherwise the first verdict that is not
    outcomes    one a test, in their order
    enforced    layer to how it was enforced
    in_process  True when a test ran beside the program, where the program could forge its outcome
    """

    reward: float | None
    verdict: Verdict
    outcomes: tuple[Outcome, ...]
    enforced: dict[str, str]
    in_process: bool = False
    error: str | None = None
    id: Any = None

    def to_json(self) -> str:
        """The grade as one JSON object; `from_json` gives it back."""
        plain = asdict(self)
        plain["verdict"] = self.verdict.value
        for mine, outcome in zip(plain["outcomes"], self.outcomes, strict=True):
            mine.update(verdict=outcome.verdict.value, status=outcome.status.value)
        return json.dumps(plain, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Grade:
        """The grade that `to_json` wrote."""
        plain = json.loads(text)
        plain["verdict"] = Verdict(plain["verdict"])
        plain["outcomes"] = tuple(
            Outcome(**{**item, "verdict": Verdict(item["verdict"]), "status": Status(item["status"])})
            for item in plain["outcomes"]
        )
        return cls(**plain)


def check_judgeable(tests: Sequence[Test]) -> None:
    """UsageError for a test that only a weakening can judge, when the caller did not name it."""
    for index, test in enumerate(tests):
        if isinstance(test, AssertTest) and not test.in_process:
            raise UsageError(
                f"tests[{index}]",
                "an assert test runs beside the program, which can then forge its outcome; "
                "say in_process=True to accept that, or give call or stdio tests",
            )


def judge(test: Test, result: Result) -> Outcome:
    """The verdict of one finished run."""
    return outcome(result, *_judge(test, result))


def outcome(result: Result, verdict: Verdict, reason: str) -> Outcome:
    """A verdict on what ran."""
    usage = result.usage
    return Outcome(verdict, one_line(reason), result.status, usage.wall_s, usage.cpu_s, usage.memory_peak)


def failure(result: Result) -> tuple[Verdict, str] | None:
    """The verdict of a whole program that went over a limit, crashed or gave an exit code other than 0; None where it
    ended well, so that its output can be judged."""
    if result.status is not Status.EXITED:
        return _BY_STATUS[result.status], result.describe()
    if result.exit_code == 0:
        return None
    frame = read_frame(result)
    if isinstance(frame, dict) and "syntax" in frame:
        return Verdict.COMPILE_ERROR, error_line(frame["syntax"])
    return Verdict.RUNTIME_ERROR, f"exit code {result.exit_code}: {last_line(result.stderr)}"


def summarise(
    tests: Sequence[Test], outcomes: Sequence[Outcome], scoring: Scoring, enforced: dict[str, str], id: Any = None
) -> Grade:
    """Outcomes to a grade."""
    verdicts = [outcome.verdict for outcome in outcomes]
    overall = next((verdict for verdict in verdicts if verdict is not Verdict.PASSED), Verdict.PASSED)
    return Grade(
        scoring.reward(verdicts, [test.weight for test in tests]),
        overall,
        tuple(outcomes),
        enforced,
        any(isinstance(test, AssertTest) for test in tests),
        id=id,
    )


def failed(error: Exception, id: Any = None) -> Grade:
    """The grade of a program that could not be judged: no reward, and why."""
    return Grade(None, Verdict.INTERNAL_ERROR, (), {}, error=f"{type(error).__name__}: {error}", id=id)


def _judge(test: Test, result: Result) -> tuple[Verdict, str]:
    if isinstance(test, StdioTest):
        return failure(result) or _judge_stdio(test, result)
    if result.status is not Status.EXITED:
        return _BY_STATUS[result.status], result.describe()
    frame = read_frame(result)
    if isinstance(frame, str):
        return Verdict.RUNTIME_ERROR, frame
    if "syntax" in frame:
        return Verdict.COMPILE_ERROR, error_line(frame["syntax"])
    if "too_large" in frame:
        return Verdict.OUTPUT_LIMIT, f"the value is too large to leave the jail ({frame['too_large']!s:.40})"
    return _judge_call(test, frame) if isinstance(test, CallTest) else _judge_assert(frame)


def _judge_stdio(test: StdioTest, result: Result) -> tuple[Verdict, str]:
    difference = compare_text(test.compare, result.stdout, test.expected_output)
    return (Verdict.PASSED, "") if difference is None else (Verdict.WRONG_ANSWER, difference)


def _judge_call(test: CallTest, frame: dict[Any, Any]) -> tuple[Verdict, str]:
    if "value" not in frame:
        return Verdict.RUNTIME_ERROR, error_line(frame.get("error"))
    difference = compare_value(test.compare, frame["value"], test.expected)
    return (Verdict.PASSED, "") if difference is None else (Verdict.WRONG_ANSWER, difference)


def _judge_assert(frame: dict[Any, Any]) -> tuple[Verdict, str]:
    if frame.get("done") is True:
        return Verdict.PASSED, ""
    error = frame.get("error")
    is_assertion = isinstance(error, tuple) and error[:1] == ("AssertionError",)
    return (Verdict.WRONG_ANSWER if is_assertion else Verdict.RUNTIME_ERROR), error_line(error)


def read_frame(result: Result) -> dict[Any, Any] | str:
    """The one frame that may have come out, or in words why there is none."""
    raw = result.value_frame
    if not raw:
        return f"ended without an answer: {result.describe()}: {last_line(result.stderr)}"
    if len(raw) < 8 or len(raw) - 8 != int.from_bytes(raw[:8], "big"):
        return "what came out of the jail is not exactly one frame"
    try:
        frame = values.decode(raw[8:], max_bytes=MAX_VALUE_BYTES + 64, max_nodes=MAX_VALUE_NODES)
    except values.BadFrame as error:
        return f"what came out of the jail is no value: {error}"
    return frame if isinstance(frame, dict) else "what came out of the jail is no frame"


def error_line(error: object) -> str:
    """(type, message, where) as the guest wrote it, or whatever else stands there: data, never trusted."""
    if not isinstance(error, tuple) or not all(isinstance(part, str) for part in error):
        return "an error that it did not describe"
    kind, message, where = (*error, "", "", "")[:3]
    return f"{kind}: {message}" + (f" at {where}" if where else "")


def last_line(stderr: bytes) -> str:
    lines = stderr[-4096:].decode("utf-8", "backslashreplace").strip().splitlines()
    return lines[-1] if lines else "nothing on stderr"


def one_line(reason: str) -> str:
    """One line, bounded, without anything that a JSON writer or a terminal could choke on."""
    clean = reason.encode("utf-8", "backslashreplace").decode("utf-8")
    clean = "".join(char if char.isprintable() else " " for char in clean)
    return clean if len(clean) <= _REASON_CHARS else clean[: _REASON_CHARS - 1] + "…"
