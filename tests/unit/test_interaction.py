"""Who talks to whom, and who is at fault."""

from __future__ import annotations

import select
import threading
from collections.abc import Iterator

import pytest

from jailpy import CheckerError, Result, Status, Usage, Verdict
from jailpy.guest import values
from jailpy.interaction import Conversation, converse, judge
from jailpy.kernel.link import Link, Talk


@pytest.fixture
def link() -> Iterator[Link]:
    made = Link()
    yield made
    made.close()


def awake(link: Link) -> bool:
    poll = select.poll()
    poll.register(link.wake, select.POLLIN)
    return bool(poll.poll(0))


def test_a_link_hands_over_all_that_was_said(link: Link) -> None:
    assert not awake(link)
    assert link.take() == (b"", False)
    link.put(b"a")
    link.put(b"b")
    assert awake(link)
    link.calm()
    link.calm()
    assert not awake(link)
    assert link.take() == (b"ab", False)
    link.put(b"c")
    link.end()
    assert awake(link)
    assert link.take() == (b"c", True)
    assert link.take() == (b"", True)
    assert not link.is_cut


def test_a_cut_is_no_end(link: Link) -> None:
    link.put(b"a")
    link.calm()
    link.cut()
    assert awake(link)
    assert link.is_cut
    assert link.take() == (b"a", False)
    assert link.take() == (b"", False)


def result(status: Status = Status.EXITED, code: int | None = 0, sig: int | None = None, **more: object) -> Result:
    fields: dict[str, object] = {"stdout": b"", "stderr": b"", "usage": Usage(), "enforced": {}} | more
    return Result(status, code, sig, **fields)  # type: ignore[arg-type]


def framed(value: object) -> bytes:
    body = values.encode(value)
    return len(body).to_bytes(8, "big") + body


WELL = result()
CRASH = result(code=1, stderr=b"Traceback\nKeyError: 5\n")
NOT_COMPILED = result(code=1, value_frame=framed({"syntax": ("SyntaxError", "bad", "")}))
WRONG = result(code=1, stderr=b"too far\n")
MET_THE_END = result(code=1, value_frame=framed({"error": ("EOFError", "EOF when reading a line", "main.py:1")}))
RAISED = result(code=1, value_frame=framed({"error": ("ValueError", "no number", "main.py:1")}))
KILLED = result(Status.SIGNALLED, None, 9)


def over(status: Status) -> Result:
    return result(status, None)


@pytest.mark.parametrize(
    ("program", "interactor", "killed", "verdict", "reason"),
    [
        (WELL, WELL, False, Verdict.PASSED, ""),
        (WELL, WRONG, False, Verdict.WRONG_ANSWER, "wrong answer: too far"),
        (WELL, result(code=2, stderr=b"what?"), False, Verdict.WRONG_ANSWER, "presentation error: what?"),
        (WELL, MET_THE_END, False, Verdict.WRONG_ANSWER, "the program ended in the middle of the talk"),
        (CRASH, WELL, False, Verdict.RUNTIME_ERROR, "exit code 1: KeyError: 5"),
        (CRASH, WRONG, False, Verdict.WRONG_ANSWER, "wrong answer: too far"),
        (CRASH, MET_THE_END, False, Verdict.RUNTIME_ERROR, "exit code 1: KeyError: 5"),
        (CRASH, RAISED, False, Verdict.RUNTIME_ERROR, "exit code 1: KeyError: 5"),
        (KILLED, WRONG, False, Verdict.WRONG_ANSWER, "wrong answer: too far"),
        (KILLED, MET_THE_END, False, Verdict.RUNTIME_ERROR, "killed by SIGKILL"),
        (KILLED, WRONG, True, Verdict.WRONG_ANSWER, "wrong answer: too far"),
        (NOT_COMPILED, WRONG, False, Verdict.COMPILE_ERROR, "SyntaxError: bad"),
        (over(Status.CPU_TIME), WRONG, False, Verdict.TIME_LIMIT, "CPU time limit"),
        (over(Status.WALL_TIME), WRONG, False, Verdict.TIME_LIMIT, "wall time limit"),
        (over(Status.WALL_TIME), RAISED, False, Verdict.TIME_LIMIT, "wall time limit"),
        (over(Status.MEMORY), over(Status.MEMORY), False, Verdict.MEMORY_LIMIT, "memory limit"),
        (over(Status.OUTPUT), over(Status.CPU_TIME), False, Verdict.OUTPUT_LIMIT, "output limit"),
    ],
)
def test_who_is_at_fault(program: Result, interactor: Result, killed: bool, verdict: Verdict, reason: str) -> None:
    outcome = judge(Conversation(program, interactor, killed))
    assert (outcome.verdict, outcome.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("program", "interactor", "killed", "reason"),
    [
        (WELL, result(code=3, stderr=b"no idea"), False, "ended with exit code 3: no idea"),
        (WELL, result(code=42), False, "ended with exit code 42: nothing on stderr"),
        (WELL, RAISED, False, "raised ValueError: no number"),
        (WELL, KILLED, False, "ended by killed by SIGKILL"),
        (WELL, over(Status.MEMORY), False, "ended by memory limit"),
        (WELL, NOT_COMPILED, False, "raised SyntaxError: bad"),
        (WELL, result(code=1, value_frame=b"nonsense"), False, "not exactly one frame"),
        (KILLED, RAISED, True, "raised ValueError: no number"),
        (over(Status.WALL_TIME), over(Status.WALL_TIME), False, "kept the program waiting"),
        (over(Status.WALL_TIME), over(Status.CPU_TIME), False, "kept the program waiting"),
    ],
)
def test_an_interactor_that_fails_gives_no_verdict(program: Result, interactor: Result, killed: bool, reason: str) -> None:
    with pytest.raises(CheckerError, match=reason):
        judge(Conversation(program, interactor, killed))


class Broken(Exception):
    pass


def listen(talk: Talk) -> list[str]:
    """What a watch would hear until the end."""
    poll = select.poll()
    poll.register(talk.hears.wake, select.POLLIN)
    while not (talk.hears.ended or talk.hears.is_cut):
        assert poll.poll(10_000), "nothing was heard"
        talk.hears.calm()
    return ["cut"] if talk.hears.is_cut else ["end"]


@pytest.mark.parametrize(("interactor", "heard"), [(WELL, "end"), (WRONG, "cut"), (KILLED, "cut"), (RAISED, "cut")])
def test_how_an_interactor_ends_decides_what_the_program_hears(interactor: Result, heard: str) -> None:
    found: list[str] = []

    def program(talk: Talk) -> Result:
        found.extend(listen(talk))
        return WELL

    talk = converse(program, lambda _: interactor)
    assert found == [heard]
    assert (talk.program, talk.interactor) == (WELL, interactor)


def test_an_interactor_that_cannot_run_ends_the_program() -> None:
    found: list[str] = []

    def program(talk: Talk) -> Result:
        found.extend(listen(talk))
        return WELL

    def interactor(talk: Talk) -> Result:
        raise Broken

    with pytest.raises(Broken):
        converse(program, interactor)
    assert found == ["cut"]


def test_a_program_that_cannot_run_ends_the_interactor() -> None:
    found: list[str] = []

    def program(talk: Talk) -> Result:
        raise Broken

    def interactor(talk: Talk) -> Result:
        found.extend(listen(talk))
        return WELL

    before = threading.active_count()
    with pytest.raises(Broken):
        converse(program, interactor)
    assert found == ["cut"]
    assert threading.active_count() == before


def test_a_program_that_is_about_to_end_is_not_killed() -> None:
    heard: list[bool] = []
    interactor_ended = threading.Event()

    def program(talk: Talk) -> Result:
        talk.says.end()
        assert interactor_ended.wait(10)
        heard.append(talk.hears.is_cut)
        return CRASH

    def interactor(talk: Talk) -> Result:
        assert listen(talk) == ["end"]
        interactor_ended.set()
        return MET_THE_END

    assert judge(converse(program, interactor)).verdict is Verdict.RUNTIME_ERROR
    assert heard == [False]


def test_a_program_that_only_closed_its_stdout_is_killed() -> None:
    def program(talk: Talk) -> Result:
        talk.says.end()
        poll = select.poll()
        poll.register(talk.hears.wake, select.POLLIN)
        assert poll.poll(10_000)
        assert talk.hears.is_cut
        talk.hears.killed = True
        return KILLED

    def interactor(talk: Talk) -> Result:
        assert listen(talk) == ["end"]
        return WRONG

    assert judge(converse(program, interactor)).verdict is Verdict.WRONG_ANSWER
