"""Results to verdicts, verdicts to a grade. Pure: expected values are compared here, outside of every jail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from jailpy.compare import compare_text, compare_value
from jailpy.efficiency import Efficiency
from jailpy.errors import InfrastructureError, UsageError
from jailpy.guest import values
from jailpy.limits import Limits
from jailpy.programs import SCRIPT
from jailpy.project import ProjectTest
from jailpy.reasons import error_line, last_error, one_line
from jailpy.report import judge_report
from jailpy.scoring import Scoring
from jailpy.status import Result, Status
from jailpy.testcase import MAX_VALUE_BYTES, MAX_VALUE_NODES, AssertTest, CallTest, Refereed, StdioTest, Test
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

#: A test of an answer in which there is no program to run.
NO_CODE = Outcome(Verdict.COMPILE_ERROR, "the answer holds no code", Status.UNSET, 0.0, 0.0, 0)



def no_program(error: UsageError) -> Outcome:
    """A test of files that cannot be laid out."""
    return replace(NO_CODE, reason=one_line(str(error)))


@dataclass(frozen=True, slots=True)
class Grade:
    """A program's reward and the evidence behind it.

    reward      the number; None where the judging failed, which `error` then explains
    verdict     passed when every test passed, otherwise the first verdict that is not
    outcomes    one a test, in their order
    enforced    layer to how it was enforced
    in_process  True when a test ran beside the program, where the program could forge its outcome
    efficiency  what was measured of its cost; None where nothing was
    """

    reward: float | None
    verdict: Verdict
    outcomes: tuple[Outcome, ...]
    enforced: dict[str, str]
    in_process: bool = False
    error: str | None = None
    id: Any = None
    efficiency: Efficiency | None = None

    def to_json(self) -> str:
        """The grade as one JSON object in ASCII; `from_json` gives it back. UsageError where the id has no form in JSON:
        objects, nan, ints of over 4300 digits. Of an id, tuples come back as lists, and keys as texts."""
        plain = {**asdict(replace(self, id=None)), "id": self.id}
        plain["verdict"] = self.verdict.value
        for mine, outcome in zip(plain["outcomes"], self.outcomes, strict=True):
            mine.update(verdict=outcome.verdict.value, status=outcome.status.value)
        try:
            return json.dumps(plain, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError("id", f"has no form in JSON: {error}") from None

    @classmethod
    def from_json(cls, text: str) -> Grade:
        """The grade that `to_json` wrote."""
        plain = json.loads(text)
        plain["verdict"] = Verdict(plain["verdict"])
        plain["outcomes"] = tuple(
            Outcome(**{**item, "verdict": Verdict(item["verdict"]), "status": Status(item["status"])})
            for item in plain["outcomes"]
        )
        if (measured := plain.get("efficiency")) is not None:
            plain["efficiency"] = Efficiency(**{**measured, "classes": tuple(measured["classes"])})
        return cls(**plain)


def judge(test: Test, result: Result, limits: Limits | None = None) -> Outcome:
    """The verdict of one finished run; `limits` are for the reason's words alone."""
    return outcome(result, *_judge(test, result, limits))


def outcome(result: Result, verdict: Verdict, reason: str) -> Outcome:
    """A verdict on what ran."""
    usage = result.usage
    return Outcome(verdict, one_line(reason), result.status, usage.wall_s, usage.cpu_s, usage.memory_peak)


def judge_refereed(
    program: Result, referee: Result, test: Refereed | None = None, limits: Limits | None = None
) -> Outcome:
    """The verdict of a program and of its test code, which ran in a jail of its own and is who decides; assert tests and
    `limits` are for the reason's words alone."""
    return outcome(program, *_judge_refereed(program, referee, test, limits))


def is_done(referee: Result) -> bool:
    """Whether test code came to its end without an exception."""
    return _done(referee, read_frame(referee))


def _done(referee: Result, frame: dict[Any, Any] | str) -> bool:
    return referee.ok and isinstance(frame, dict) and frame.get("done") is True


def failure(result: Result, limits: Limits | None = None) -> tuple[Verdict, str] | None:
    """The verdict of a whole program that went over a limit, crashed or gave an exit code other than 0; None where it
    ended well, so that its output can be judged."""
    if result.status is not Status.EXITED:
        return _BY_STATUS[result.status], _ended(result, limits)
    if result.exit_code == 0:
        return None
    frame = read_frame(result)
    if isinstance(frame, dict) and "syntax" in frame:
        return Verdict.COMPILE_ERROR, error_line(frame["syntax"])
    error = frame.get("error") if isinstance(frame, dict) else None
    return _raised(error), f"exit code {result.exit_code}: {last_error(result.stderr)}"


def summarise(
    tests: Sequence[Test],
    outcomes: Sequence[Outcome],
    scoring: Scoring,
    enforced: dict[str, str],
    id: Any = None,
    efficiency: Efficiency | None = None,
) -> Grade:
    """Outcomes to a grade. `efficiency` is what was measured, where the scoring asks for it."""
    verdicts = [outcome.verdict for outcome in outcomes]
    overall = next((verdict for verdict in verdicts if verdict is not Verdict.PASSED), Verdict.PASSED)
    return Grade(
        scoring.reward(verdicts, [test.weight for test in tests], [test.group for test in tests], efficiency),
        overall,
        tuple(outcomes),
        enforced,
        any(isinstance(test, (AssertTest, ProjectTest)) and test.in_process for test in tests),
        id=id,
        efficiency=efficiency,
    )


def failed(error: Exception, id: Any = None) -> Grade:
    """The grade of a program that could not be judged: no reward, and why."""
    return Grade(None, Verdict.INTERNAL_ERROR, (), {}, error=f"{type(error).__name__}: {error}", id=id)


def _judge(test: Test, result: Result, limits: Limits | None) -> tuple[Verdict, str]:
    if isinstance(test, StdioTest):
        return failure(result, limits) or _judge_stdio(test, result)
    if result.status is not Status.EXITED:
        return _BY_STATUS[result.status], _ended(result, limits)
    frame = read_frame(result)
    if isinstance(frame, str):
        return Verdict.RUNTIME_ERROR, frame
    if "syntax" in frame:
        return Verdict.COMPILE_ERROR, error_line(frame["syntax"])
    if "too_large" in frame:
        return Verdict.OUTPUT_LIMIT, f"the value is too large to leave the jail ({frame['too_large']!s:.40})"
    if isinstance(test, CallTest):
        return _judge_call(test, frame)
    return _judge_done(result, frame, test) if frame.get("done") is True else _judge_error(frame, test)


def _ended(result: Result, limits: Limits | None) -> str:
    """How a guest was ended, and what it said of its own crash."""
    said = result.status is Status.SIGNALLED and result.stderr.strip()
    return result.describe(limits) + (f": {last_error(result.stderr)}" if said else "")


def _judge_refereed(
    program: Result, referee: Result, test: Refereed | None, limits: Limits | None
) -> tuple[Verdict, str]:
    if program.status not in (Status.EXITED, Status.SIGNALLED):
        return _BY_STATUS[program.status], program.describe(limits)
    said, own = read_frame(referee), read_frame(program)
    if _done(referee, said):
        return _judge_done(referee, said, test)
    if isinstance(own, dict) and "syntax" in own:
        return Verdict.COMPILE_ERROR, error_line(own["syntax"])
    if isinstance(own, dict) and "error" in own:
        return _raised(own["error"]), error_line(own["error"])
    ended_early = program.exit_code not in (None, 0) or program.status is Status.SIGNALLED
    if ended_early or (referee.status is Status.EXITED and _lost(said)):
        how = f"{program.describe()}: {last_error(program.stderr)}"
        return Verdict.RUNTIME_ERROR, f"the program ended before its test: {how}"
    if referee.status is not Status.EXITED:
        return _BY_STATUS[referee.status], f"the test code: {referee.describe(limits)}"
    return _judge_frame(said, test)


def _lost(frame: dict[Any, Any] | str) -> bool:
    error = frame.get("error") if isinstance(frame, dict) else None
    return isinstance(error, tuple) and error[:1] == ("Gone",)


def _judge_done(result: Result, frame: dict[Any, Any] | str, test: Test | None) -> tuple[Verdict, str]:
    if isinstance(test, ProjectTest) and isinstance(frame, dict):
        return judge_report(frame, test, last_error(result.stderr))
    return Verdict.PASSED, ""


def _judge_frame(frame: dict[Any, Any] | str, test: Test | None) -> tuple[Verdict, str]:
    if isinstance(frame, str):
        return Verdict.RUNTIME_ERROR, frame
    if "syntax" in frame:
        raise InfrastructureError(f"the test code does not compile: {error_line(frame['syntax'])}")
    if "no_test" in frame:
        raise InfrastructureError("the test code only defines names and runs no test; call what it defines")
    if "too_large" in frame:
        return Verdict.OUTPUT_LIMIT, f"the value is too large to leave the jail ({frame['too_large']!s:.40})"
    return _judge_error(frame, test, SCRIPT)


def _judge_stdio(test: StdioTest, result: Result) -> tuple[Verdict, str]:
    difference = compare_text(test.compare, result.stdout, test.expected_output)
    return (Verdict.PASSED, "") if difference is None else (Verdict.WRONG_ANSWER, difference)


def _judge_call(test: CallTest, frame: dict[Any, Any]) -> tuple[Verdict, str]:
    if "value" not in frame:
        return _raised(frame.get("error")), error_line(frame.get("error"))
    difference = compare_value(test.compare, frame["value"], test.expected)
    return (Verdict.PASSED, "") if difference is None else (Verdict.WRONG_ANSWER, difference)


def _judge_error(frame: dict[Any, Any], test: Test | None, file: str = "<test>") -> tuple[Verdict, str]:
    error = frame.get("error")
    failed = isinstance(error, tuple) and error[:1] == ("AssertionError",)
    shown = test if isinstance(test, AssertTest) else None
    return (Verdict.WRONG_ANSWER if failed else _raised(error)), error_line(error, shown, file)


def _raised(error: object) -> Verdict:
    """What an exception means. A host that has not the memory refuses it, where a larger one grants it and the limit ends
    the program: the same program, the same verdict."""
    refused = isinstance(error, tuple) and error[:1] == ("MemoryError",)
    return Verdict.MEMORY_LIMIT if refused else Verdict.RUNTIME_ERROR


def read_frame(result: Result) -> dict[Any, Any] | str:
    """The one frame that may have come out, or in words why there is none."""
    raw = result.value_frame
    if not raw:
        return f"ended without an answer: {result.describe()}: {last_error(result.stderr)}"
    if len(raw) < 8 or len(raw) - 8 != int.from_bytes(raw[:8], "big"):
        return "what came out of the jail is not exactly one frame"
    try:
        frame = values.decode(raw[8:], max_bytes=MAX_VALUE_BYTES + 64, max_nodes=MAX_VALUE_NODES)
    except values.BadFrame as error:
        return f"what came out of the jail is no value: {error}"
    return frame if isinstance(frame, dict) else "what came out of the jail is no frame"
