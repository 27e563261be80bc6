"""What checkers say, and what becomes of it."""

from __future__ import annotations

import dis
import functools
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from jailpy import CheckerError, Limits, Result, Status, Usage, Verdict
from jailpy.checking import MAX_TEXTS, judge
from jailpy.guest import values
from jailpy.programs import Task
from jailpy.testcase import CheckTest, Judge
from jailpy.workers import Workers, carry

TEXTS = {"input": b"1", "output": b"2\n", "answer": b"3"}


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    made = Workers()
    yield made
    made.close()


def check(workers: Workers, checker: Any, seconds: float = 60.0, **texts: bytes) -> Any:
    return workers.check(carry(checker, "checker"), {**TEXTS, **texts}, seconds)


def of_this_module(i: str, o: str, a: str) -> bool:
    return (i, o, a) == ("1", "2\n", "3")


class Checker:
    def __init__(self, wanted: str) -> None:
        self.wanted = wanted

    def __call__(self, output: str) -> bool:
        return output == self.wanted

    def method(self, answer: str, input: str) -> bool:
        return (answer, input) == ("3", "1")


def test_every_kind_of_callable(workers: Workers) -> None:
    seen = {"2\n"}

    def closure(output: str) -> tuple[bool, str]:
        return of_this_module("1", output, "3") and output in seen, "why"

    assert check(workers, of_this_module) is True
    assert check(workers, closure) == (True, "why")
    assert check(workers, lambda output: output in seen, output=b"3") is False
    assert check(workers, Checker("2\n")) is True
    assert check(workers, Checker("").method) is True
    assert check(workers, functools.partial(lambda wanted, output: output == wanted, wanted="2\n")) is True


def test_what_a_closure_holds_is_of_the_moment(workers: Workers) -> None:
    seen = set()

    def checker(output: str) -> bool:
        return output in seen

    assert check(workers, checker) is False
    seen.add("2\n")
    assert check(workers, checker) is True


HELD = {"2\n"}


def _helper(text: str) -> bool:
    return text in HELD and all(_deeper(each) for each in [text])


def _deeper(text: str) -> bool:
    return os.sep not in text


def test_what_a_function_names_travels_with_it(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """As from a main module, which no worker can import."""
    for function in (_helper, _deeper):
        monkeypatch.setattr(function, "__module__", "__main__")
    assert check(workers, lambda output: _helper(output)) is True  # noqa: PLW0108
    assert check(workers, lambda output: [_helper(text) for text in [output]] == [True]) is True


def test_other_threads_keep_their_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    class Noticing(dict):  # type: ignore[type-arg]
        """Is looked at while it is pickled."""

        def __reduce__(self) -> Any:
            seen.append(sys.stdout)
            return dict, ()

    seen: list[Any] = []
    held = Noticing()
    real, found = sys.stdout, []
    inner = dis.dis
    monkeypatch.setattr(dis, "dis", lambda *rest, **more: (found.append(sys.stdout), inner(*rest, **more)))
    carry(lambda output: output in held and _helper(output), "checker")
    assert {id(stream) for stream in seen + found} == {id(real)}


def test_bytes_that_are_no_text_are_not_lost(workers: Workers) -> None:
    raw = bytes(range(256)) * 10 + "€".encode()
    assert check(workers, lambda output: output.encode("utf-8", "surrogateescape") == raw, output=raw) is True
    assert check(workers, lambda output: output == "\udcff", output=b"\xff") is True


def test_a_worker_is_a_new_process_and_serves_many_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "only_here", sys)  # a fork would have it too
    workers = Workers()
    pids = {check(workers, lambda output: (True, str(__import__("os").getpid())))[1] for _ in range(5)}
    assert len(pids) == 1
    assert pids != {str(os.getpid())}
    assert check(workers, lambda output: "only_here" in __import__("sys").modules) is False
    assert len(workers) == 1
    workers.close()
    assert len(workers) == 0


def test_reasons_are_cut(workers: Workers) -> None:
    right, reason = check(workers, lambda output: (False, output), output=b"x" * 5_000_000)
    assert right is False
    assert reason == "x" * 1000


def test_what_is_no_verdict_is_opaque(workers: Workers) -> None:
    for checker in (lambda output: 1, lambda output: None, lambda output: (1, ""), lambda output: [True, ""]):
        value = check(workers, checker)
        assert type(value[0] if type(value) is tuple else value) is values.Opaque


@pytest.mark.parametrize(
    ("checker", "reason"),
    [
        (lambda output: 1 / 0, "the checker raised ZeroDivisionError: division by zero"),
        (lambda output: sys.exit(0), "the checker raised SystemExit: 0"),
        (lambda output: os._exit(0), r"the checker's process ended \(exit code 0\)"),
        (lambda output: os.kill(os.getpid(), 11), r"the checker's process ended \(exit code -11\)"),
        (lambda output: os.write(int(sys.argv[1]), bytes(7) + b"\1x"), "the checker's process broke its protocol"),
        (lambda output: os.write(int(sys.argv[1]), b"\xff" * 8), "the checker's process broke its protocol"),
    ],
)
def test_a_checker_that_fails_is_no_verdict_and_does_no_harm(workers: Workers, checker: Any, reason: str) -> None:
    with pytest.raises(CheckerError, match=reason):
        check(workers, checker)
    assert check(workers, of_this_module) is True


@pytest.mark.parametrize(
    "hang", [lambda output: __import__("time").sleep(1000), lambda output: __import__("re").match("(a*)*b", "a" * 100)]
)
def test_a_checker_that_hangs_is_ended(workers: Workers, hang: Any) -> None:
    check(workers, of_this_module)
    idle = len(workers)
    with pytest.raises(CheckerError, match=r"the checker took longer than 0.2 s"):
        check(workers, hang, seconds=0.2)
    assert len(workers) == idle - 1
    assert check(workers, of_this_module) is True


def test_a_worker_that_died_between_two_checks_is_replaced(workers: Workers) -> None:
    _, pid = check(workers, lambda output: (True, str(__import__("os").getpid())))
    worker = workers._idle[-1]
    os.kill(int(pid), 9)
    worker.process.wait()
    assert check(workers, of_this_module) is True


def test_a_checker_whose_module_is_not_there(workers: Workers) -> None:
    def checker(output: str) -> bool:
        return True

    carried = carry(checker, "checker")
    carried = type(carried)(carried.pickled[:-20], b"-" * 32, carried.names)
    with pytest.raises(CheckerError, match="cannot be loaded in a worker process"):
        workers.check(carried, TEXTS, 60.0)
    assert check(workers, of_this_module) is True


def ran(stdout: bytes = b"2\n", code: int = 0, stderr: bytes = b"", frame: object = None, **more: Any) -> Result:
    body = b"" if frame is None else values.encode(frame)
    raw = len(body).to_bytes(8, "big") + body if body else b""
    return Result(more.get("status", Status.EXITED), code, None, stdout, stderr, Usage(), {}, raw)


def judged(
    checker: Any, result: Result, said: Result, limits: Limits | None = None
) -> tuple[Any, list[tuple[Task, Limits]]]:
    runs: list[tuple[Task, Limits]] = []

    def run(task: Task, its: Limits) -> Result:
        runs.append((task, its))
        return said

    outcome = judge(CheckTest(b"1", checker, b"3"), result, limits or Limits(), Workers(), run)
    return (outcome.verdict, outcome.reason), runs


PROGRAM = Judge(b"the checker", limits=(("cpu_s", 9.0),))
FUNCTION = Judge(b"def check", function=True)


def test_a_program_gets_its_files_and_limits() -> None:
    verdict, ((task, limits),) = judged(PROGRAM, ran(b"\xff"), ran())
    assert verdict == (Verdict.PASSED, "")
    assert {file.name: file.content for file in task.files} == {
        "input.txt": b"1",
        "output.txt": b"\xff",
        "answer.txt": b"3",
    }
    assert task.arguments["argv"] == ("input.txt", "output.txt", "answer.txt")
    assert limits == Limits(cpu_s=9.0)
    _, ((_, limits),) = judged(PROGRAM, ran(bytes(9 << 20)), ran(), Limits(disk_mb=1))
    assert limits.disk_mb == 11


@pytest.mark.parametrize(
    ("code", "word"), [(1, "wrong answer"), (2, "presentation error"), (4, "dirt"), (7, "partial points")]
)
def test_exit_codes_that_mean_wrong(code: int, word: str) -> None:
    verdict, _ = judged(PROGRAM, ran(), ran(code=code, stderr=b"first\npoints 0.5\n"))
    assert verdict == (Verdict.WRONG_ANSWER, f"{word}: points 0.5")


@pytest.mark.parametrize("code", [3, 5, 6, 9, 42, 43, 120, 255])
def test_other_exit_codes_are_no_verdict(code: int) -> None:
    with pytest.raises(CheckerError, match=f"the checker ended with exit code {code}: last"):
        judged(PROGRAM, ran(), ran(code=code, stderr=b"first\nlast"))


@pytest.mark.parametrize("checker", [PROGRAM, FUNCTION])
@pytest.mark.parametrize("status", [status for status in Status if status is not Status.EXITED])
def test_a_checker_that_does_not_end_well_is_no_verdict(checker: Judge, status: Status) -> None:
    with pytest.raises(CheckerError, match="the checker ended by"):
        judged(checker, ran(), ran(status=status, frame={"value": True}))


@pytest.mark.parametrize("frame", [{"error": ("KeyError", "5", "")}, {"syntax": ("KeyError", "5", "")}])
@pytest.mark.parametrize("checker", [PROGRAM, FUNCTION])
def test_a_checker_that_raises_is_no_verdict(checker: Judge, frame: object) -> None:
    with pytest.raises(CheckerError, match="the checker raised KeyError: 5"):
        judged(checker, ran(), ran(code=1, frame=frame))


def test_values_of_a_function() -> None:
    assert judged(FUNCTION, ran(), ran(frame={"value": True}))[0] == (Verdict.PASSED, "")
    assert judged(FUNCTION, ran(), ran(frame={"value": (True, "fine")}))[0] == (Verdict.PASSED, "")
    assert judged(FUNCTION, ran(), ran(frame={"value": (False, "a\nb")}))[0] == (Verdict.WRONG_ANSWER, "a b")
    wrong = (Verdict.WRONG_ANSWER, "the checker says that the output is wrong")
    assert judged(FUNCTION, ran(), ran(frame={"value": False}))[0] == wrong


@pytest.mark.parametrize("value", [1, 0, None, 1.0, "True", [True], (True,), (1, ""), (True, 5), (True, "", "")])
def test_other_values_are_no_verdict(value: object) -> None:
    with pytest.raises(CheckerError, match="which is not True, False or a tuple"):
        judged(FUNCTION, ran(), ran(frame={"value": value}))


def test_no_frame_is_no_verdict() -> None:
    with pytest.raises(CheckerError, match="ended without an answer"):
        judged(FUNCTION, ran(), ran())
    with pytest.raises(CheckerError, match="the checker raised an error that it did not describe"):
        judged(FUNCTION, ran(), ran(frame={"too_large": "bytes"}))


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (ran(code=1, stderr=b"KeyError"), Verdict.RUNTIME_ERROR),
        (ran(status=Status.CPU_TIME), Verdict.TIME_LIMIT),
        (ran(status=Status.OUTPUT), Verdict.OUTPUT_LIMIT),
        (ran(code=1, frame={"syntax": ("SyntaxError", "", "")}), Verdict.COMPILE_ERROR),
    ],
)
def test_a_program_that_failed_is_not_checked(result: Result, verdict: Verdict) -> None:
    (found, _), runs = judged(PROGRAM, result, ran())
    assert found is verdict
    assert not runs


def test_too_much_for_a_checker() -> None:
    with pytest.raises(CheckerError, match="bytes of input, output and answer"):
        judged(PROGRAM, ran(bytes(MAX_TEXTS)), ran())
