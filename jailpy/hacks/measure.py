"""What the hacks reach: in jailpy, in the naive graders, and in any other grader that a command starts."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import json
import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from types import TracebackType
from typing import BinaryIO

from jailpy.errors import InfrastructureError, UsageError
from jailpy.grading import Grade
from jailpy.hacks import Hack, problem
from jailpy.jail import Jail, Job
from jailpy.limits import Limits
from jailpy.policy import Policy
from jailpy.status import Result, Status
from jailpy.verdict import Verdict

#: The honest program needs a tenth of this CPU time; two hacks want more of it than they may have.
LIMITS = Limits(cpu_s=0.75, wall_s=15.0)

#: A naive grader's own jail has to outlast the programs that it waits for.
_NAIVE_LIMITS = Limits(cpu_s=30.0, wall_s=60.0)
#: Assert tests of jailpy's beside the program, the weakening with a name.
IN_PROCESS = "jailpy_in_process"
_WITH_PYTEST = "pytest_project"
_ANSWER_BYTES = 1 << 16


def in_jailpy(jail: Jail, hacks: Sequence[Hack]) -> Iterator[tuple[Hack, str, Grade]]:
    """Every hack's grade in each of its suites, as they come."""
    trials = [(hack, suite) for hack in hacks for suite in hack.suites]
    jobs = [Job(hack.code, problem.SUITES[suite], limits=LIMITS, id=at) for at, (hack, suite) in enumerate(trials)]
    for grade in jail.grade_many(jobs):
        yield (*trials[grade.id], grade)


class NaiveGraders:
    """The programs of naive.py, each run in a jail of its own, together with what it is to judge."""

    def __init__(self, policy: Policy, workers: int | None = None) -> None:
        self._jail = Jail(policy, _NAIVE_LIMITS, workers=workers)
        self._program = resources.files("jailpy.hacks").joinpath("naive.py").read_text(encoding="utf-8")
        self._with_pytest: Jail | None = None
        if importlib.util.find_spec("pytest"):
            # This interpreter and its packages, which no other guest is shown.
            own = dataclasses.replace(policy, python=sys.executable)
            self._with_pytest = Jail(own, _NAIVE_LIMITS, workers=self._jail.workers, warm=False)

    def __enter__(self) -> NaiveGraders:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for jail in (self._jail, self._with_pytest):
            if jail is not None:
                jail.close()

    @property
    def workers(self) -> int:
        """How many judge at once."""
        return self._jail.workers

    def can(self, grader: str) -> bool:
        """False for the one that needs pytest, where that is not installed beside jailpy."""
        return grader != _WITH_PYTEST or self._with_pytest is not None

    def accepts(self, grader: str, code: str, tests: Sequence[object]) -> bool:
        """Whether the grader takes the program for right. UsageError where it does not know its name or these tests."""
        if grader == IN_PROCESS:
            return self._jail.grade(code, tests, in_process=True, limits=LIMITS).verdict is Verdict.PASSED
        jail = self._with_pytest if grader == _WITH_PYTEST else self._jail
        if jail is None:
            raise UsageError(grader, "needs pytest, which is not installed beside jailpy")
        result = jail.run(self._program, json.dumps({"grader": grader, "code": code, "tests": tests}))
        return _last_line(result) == b"1"


def _last_line(result: Result) -> bytes:
    lines = result.stdout.splitlines()
    return lines[-1] if result.status is Status.EXITED and result.exit_code == 0 and lines else b""


@dataclass(frozen=True, slots=True)
class Command:
    """Another grader: a command that reads a job on stdin, `{"code": program, "tests": [...]}`, and writes the reward, a
    number, as the last line of its stdout. Any other end is a refusal, which rewards nothing.

    seconds  until it is ended, with what it started
    """

    words: tuple[str, ...]
    seconds: float

    @classmethod
    def parse(cls, text: str, seconds: float) -> Command:
        """A command as a shell would split it. UsageError for none."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise UsageError("--against", f"{error}; quote the command as for a shell") from None
        if not words:
            raise UsageError("--against", "is empty; give the command that starts a grader")
        return cls(words, seconds)

    def reward(self, code: str, suite: str) -> float | None:
        """What it gives for a program; None for a refusal."""
        job = json.dumps({"code": code, "tests": problem.SUITES[suite]}).encode()
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout:
            stdin.write(job)
            stdin.seek(0)
            try:
                process = subprocess.Popen(
                    self.words, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, start_new_session=True
                )
            except OSError as error:
                raise UsageError("--against", f"{self.words[0]} cannot be started: {error.strerror}") from None
            with process:
                status = _wait(process, self.seconds)
            return _number(stdout) if status == 0 else None


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit status; None when it took too long. Its whole session is ended."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _number(stdout: BinaryIO) -> float | None:
    stdout.seek(max(0, stdout.seek(0, os.SEEK_END) - _ANSWER_BYTES))
    lines = stdout.read().split()
    try:
        number = float(lines[-1]) if lines else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Scale:
    """What another grader gives for the honest and for the wrong program of a suite."""

    honest: float | None
    wrong: float | None

    @property
    def usable(self) -> bool:
        """A grader that does not tell right from wrong is not measured by hacks."""
        return self.honest is not None and self.honest > self.floor

    @property
    def floor(self) -> float:
        """A hack has fooled it with any reward above this."""
        return 0.0 if self.wrong is None else self.wrong

    @classmethod
    def of(cls, command: Command, suite: str) -> Scale:
        """Asks the grader."""
        return cls(command.reward(problem.HONEST, suite), command.reward(problem.WRONG, suite))


def check_honest(jail: Jail) -> None:
    """InfrastructureError when this host does not judge the honest and the wrong program as what they are: a grader
    that fails everything would be safe from every hack."""
    for suite in problem.SUITES:
        for code, right in ((problem.HONEST, True), (problem.WRONG, False)):
            grade = jail.grade(code, problem.SUITES[suite], limits=LIMITS)
            if (grade.verdict is Verdict.PASSED) is not right:
                kind = "honest" if right else "wrong"
                raise InfrastructureError(f"the {kind} program is {grade.verdict.value} in the suite {suite}")
