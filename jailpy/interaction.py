"""Tests of type `interact`: the program talks to an interactor, each in a jail of its own with limits of its own.

What the program prints is the interactor's stdin, and the other way round. The interactor is started as testlib's are:
argv[1] is a file with the test's `input`, argv[2] a name for what it likes to write, argv[3] a file with `answer`. Its exit
code is its word, 0 right, 1 or 2 wrong, and the others as for checkers (`jailpy.checking`); the last line of its stderr
is the reason.

The first of these that holds decides:

1. The program does not compile, or went over a limit: its verdict.
2. The interactor's exit code says that the program is wrong: wrong_answer, however the program then ended.
3. The program crashed or gave an exit code other than 0: its verdict.
4. The interactor's word.

An interactor that gives no such word (any other exit code, an uncaught exception, a limit of its own, a crash) has
failed: CheckerError, and never a reward. So it reads with care what the program says, but need not care where that ends:
an EOFError that it does not catch is a wrong answer too, and the weaker one, which 3 comes before.

The program's stdin ends when the interactor has ended, not before. After word 0 the program still has to end well, within
its limits; after every other end of the interactor it is killed before it can notice (one that has closed its stdout gets
a second to end by itself), so nothing that an interactor does makes a program crash. (Where a program says what the
interactor cannot take, and crashes too, it is left to chance which of the two is seen; neither is a pass.) When both wait
for each other, or the interactor never ends, the program's wall time limit ends that; the interactor's own wall time
begins then, and where that runs out too, the interactor has failed.

Neither can block the other: what one writes is taken at once, counted in its output limit, and kept until the other reads.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

from jailpy import checking, grading
from jailpy.errors import CheckerError, InfrastructureError
from jailpy.grading import Outcome
from jailpy.kernel.link import Link, Talk
from jailpy.reasons import last_error, one_line
from jailpy.status import Result, Status
from jailpy.verdict import Verdict

Run = Callable[[Talk], Result]

#: A program that has closed its stdout has this long to end, when the interactor has ended badly.
_ENDING_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Conversation:
    """How both ended; `killed`: the program was killed because the interactor had ended."""

    program: Result
    interactor: Result
    killed: bool


def converse(run_program: Run, run_interactor: Run) -> Conversation:
    """Runs both at once until both have ended. What either raises is raised when both are gone."""
    to_interactor, to_program = Link(), Link()
    with contextlib.closing(to_interactor), contextlib.closing(to_program):
        other = _Other(run_interactor, Talk(to_interactor, to_program, leads=True))
        try:
            other.thread.start()
        except RuntimeError as error:
            raise InfrastructureError(f"the host refused a thread for the interactor: {error}") from error
        try:
            program = run_program(Talk(to_program, to_interactor))
        except BaseException:
            to_interactor.cut()
            raise
        finally:
            other.alone.set()
            to_interactor.end()
            other.thread.join()
        return Conversation(program, other.result(), to_program.killed)


class _Other:
    """The interactor, in a thread."""

    def __init__(self, run: Run, talk: Talk) -> None:
        self.run = run
        self.talk = talk
        self.ended: Result | BaseException | None = None
        self.alone = threading.Event()
        self.thread = threading.Thread(target=self._work, name="jailpy-interactor", daemon=True)

    def _work(self) -> None:
        try:
            self.ended = result = self.run(self.talk)
        except BaseException as error:  # noqa: BLE001  # raised again where the result is asked for
            self.ended = error
            self.talk.says.cut()
        else:
            if result.ok:
                self.talk.says.end()
                return
            if self.talk.hears.ended:  # the program is just about to end, and how it does is for it to decide
                self.alone.wait(_ENDING_SECONDS)
            self.talk.says.cut()

    def result(self) -> Result:
        if isinstance(self.ended, Result):
            return self.ended
        assert self.ended is not None
        raise self.ended


def judge(talk: Conversation) -> Outcome:
    """The verdict, by the rules above. CheckerError where the interactor failed."""
    return grading.outcome(talk.program, *_rule(talk))


def _rule(talk: Conversation) -> tuple[Verdict, str]:
    failure = None if talk.killed else grading.failure(talk.program)
    crashed = talk.program.status in (Status.EXITED, Status.SIGNALLED)
    if failure and (failure[0] is Verdict.COMPILE_ERROR or not crashed):
        if talk.program.status is Status.WALL_TIME and talk.interactor.status is not Status.EXITED:
            raise CheckerError(f"the interactor kept the program waiting, and did not end: {talk.interactor.describe()}")
        return failure
    if talk.interactor.exit_code in checking.WRONG and not checking.uncaught(talk.interactor):
        return _word(talk.interactor)
    return failure or _word(talk.interactor)


def _word(interactor: Result) -> tuple[Verdict, str]:
    error = checking.uncaught(interactor)
    if isinstance(error, tuple) and error[:1] == ("EOFError",):
        return Verdict.WRONG_ANSWER, "the program ended in the middle of the talk"
    said = checking.judge_said(interactor, "interactor")
    if said == 0:
        return Verdict.PASSED, ""
    reason = last_error(interactor.stderr)
    if said in checking.WRONG:
        return Verdict.WRONG_ANSWER, f"{checking.WRONG[said]}: {reason}"
    raise CheckerError(one_line(f"the interactor ended with exit code {said}: {reason}"))
