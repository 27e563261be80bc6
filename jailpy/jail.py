"""`Jail`: one policy, one set of limits, and the calls that run programs under them."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import logging
import os
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from jailpy import cold, grading, languages, programs, roots
from jailpy.errors import HelperLost, InfrastructureError, SetupError, UsageError
from jailpy.grading import Grade
from jailpy.kernel.probe import host
from jailpy.limits import Limits
from jailpy.lower import Program, enforced
from jailpy.policy import Policy
from jailpy.programs import Task
from jailpy.scoring import Scoring
from jailpy.status import Result
from jailpy.testcase import Test, parse_tests

log = logging.getLogger("jailpy")


@dataclass(frozen=True, slots=True)
class Job:
    """One program to grade. What is None comes from the jail. `id` comes back in its grade."""

    code: str | bytes
    tests: Any
    language: str = "python"
    limits: Limits | None = None
    scoring: Scoring | None = None
    in_process: bool = False
    id: Any = None


class Jail:
    """Runs and grades programs under one policy.

    policy    what guests may do
    limits    how much of it, unless a call gives its own
    workers   how many jails run at once; default: the CPUs that this process may use

    A context manager; `close` waits for what runs. Safe to use from many threads.
    """

    def __init__(
        self, policy: Policy | None = None, limits: Limits | None = None, *, workers: int | None = None
    ) -> None:
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
            raise UsageError("workers", f"{workers!r} must be a whole number of at least 1")
        self.policy = policy or Policy.from_environment()
        self.limits = limits or Limits()
        self.workers = workers or len(os.sched_getaffinity(0))
        self._pool = concurrent.futures.ThreadPoolExecutor(self.workers, thread_name_prefix="jailpy")
        self._slots = threading.BoundedSemaphore(self.workers)
        self._finalizer = weakref.finalize(self, self._pool.shutdown, wait=False)

    def __enter__(self) -> Jail:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Waits for running programs, then lets go of everything."""
        self._pool.shutdown(wait=True)

    def run(
        self,
        code: str | bytes,
        stdin: str | bytes = b"",
        *,
        language: str = "python",
        files: Mapping[str, str | bytes] | None = None,
        limits: Limits | None = None,
    ) -> Result:
        """Runs a program, without tests. What it did is in the Result; InfrastructureError where that is not known."""
        languages.check_language(language)
        data = stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin
        task = Task(programs.source(code), stdin=data, files=programs.check_files(files))
        return self._run(task, limits or self.limits)

    def grade(
        self,
        code: str | bytes,
        tests: Any,
        *,
        language: str = "python",
        limits: Limits | None = None,
        scoring: Scoring | None = None,
        in_process: bool = False,
    ) -> Grade:
        """Judges a program by its tests. InfrastructureError where that fails; UsageError for a wrong argument."""
        return self._grade(Job(code, tests, language, limits, scoring, in_process))

    def execute_code(self, code: str | bytes, tests: Any, **options: Any) -> float:
        """The reward of `grade`, which takes the same arguments."""
        reward = self.grade(code, tests, **options).reward
        assert reward is not None  # a grade without a reward is only made for batches
        return reward

    def submit(self, code: str | bytes, tests: Any, **options: Any) -> concurrent.futures.Future[Grade]:
        """`grade` in a worker thread. Async callers wrap the future with asyncio.wrap_future."""
        return self._pool.submit(self.grade, code, tests, **options)

    def grade_many(
        self, jobs: Iterable[Job | Mapping[str, Any]], *, ordered: bool = False, progress: bool = False
    ) -> Iterator[Grade]:
        """Grades as they finish, or in the order of the jobs. Takes jobs as it has room for them, so an endless
        iterable is fine. A program that could not be judged gives a grade whose reward is None and whose error says
        why. `progress` shows a bar on stderr."""
        return self._grade_many(map(_job, jobs, _count()), ordered, _Progress(jobs) if progress else None)

    def execute_many(
        self, codes: Iterable[str | bytes], tests: Any, *, progress: bool = False, **options: Any
    ) -> list[float | None]:
        """Rewards of many programs, in their order: against one set of tests, or, where `tests` is a list with one
        set a program (each a list or a JSON text of its own), each against its own. None where judging failed."""
        listed = list(codes)
        own = _one_set_each(tests, len(listed))
        jobs = [Job(code, own[at] if own else tests, **options) for at, code in enumerate(listed)]
        return [grade.reward for grade in self.grade_many(jobs, ordered=True, progress=progress)]

    def _grade_many(self, jobs: Iterator[Job], ordered: bool, progress: _Progress | None) -> Iterator[Grade]:
        waiting: collections.deque[concurrent.futures.Future[Grade]] = collections.deque()
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: [future.cancel() for future in waiting])
            room = self.workers * 4
            while True:
                while len(waiting) < room and (job := next(jobs, None)) is not None:
                    waiting.append(self._pool.submit(self._grade_or_say_why, job))
                if not waiting:
                    return
                for grade in self._next(waiting, ordered):
                    if progress:
                        progress.step()
                    yield grade

    @staticmethod
    def _next(waiting: collections.deque[concurrent.futures.Future[Grade]], ordered: bool) -> list[Grade]:
        if ordered:
            return [waiting.popleft().result()]
        done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            waiting.remove(future)
        return [future.result() for future in done]

    def _grade_or_say_why(self, job: Job) -> Grade:
        try:
            return replace(self._grade(job), id=job.id)
        except InfrastructureError as error:
            log.error("a program could not be judged: %s", error)
            return grading.failed(error, job.id)

    def _grade(self, job: Job) -> Grade:
        languages.check_language(job.language)
        tests = parse_tests(job.tests, in_process=job.in_process)
        grading.check_judgeable(tests)
        code = programs.source(job.code)
        limits = job.limits or self.limits
        layers = enforced(self.policy, host())
        outcomes = [self._outcome(test, code, limits) for test in tests]
        return grading.summarise(tests, outcomes, job.scoring or Scoring.seed(), layers)

    def _outcome(self, test: Test, code: bytes, limits: Limits) -> grading.Outcome:
        return grading.judge(test, self._run(programs.task_for(test, code, limits), limits))

    def _run(self, task: Task, limits: Limits) -> Result:
        """Once more where the set-up failed: nothing that a guest does leaves its jail, so a second run is safe."""
        with self._slots:
            try:
                return self._run_cold(task, limits)
            except (SetupError, HelperLost) as error:
                log.warning("a run failed before it could be judged, trying once more: %s", error)
                return self._run_cold(task, limits)

    def _run_cold(self, task: Task, limits: Limits) -> Result:
        python = languages.interpreter(self.policy)

        def program(places: roots.Places) -> Program:
            return Program(
                argv=(python.executable, f"{places.driver}/driver.py"),
                files=(*task.files, roots.File(task.name, task.code)),
                stdin=task.stdin,
                request=task.request(places.work),
                frame_bytes=task.frame_bytes + 64,
            )

        return cold.run(program, self.policy, limits)


def _job(job: Job | Mapping[str, Any], number: int) -> Job:
    if isinstance(job, Job):
        return job
    try:
        return Job(**job)
    except TypeError as error:
        raise UsageError(f"jobs[{number}]", f"{error}; a job has code, tests, language, limits, scoring, id") from None


def _count() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


def _one_set_each(tests: Any, programs_given: int) -> list[Any] | None:
    """A list of lists (or of JSON texts that hold lists) is one set a program."""
    each = isinstance(tests, list) and tests and all(isinstance(item, list) for item in tests)
    if not each:
        return None
    if len(tests) != programs_given:
        raise UsageError("tests", f"{len(tests)} sets of tests for {programs_given} programs; give one set a program")
    return list(tests)


class _Progress:
    """A count on stderr, rewritten in place."""

    def __init__(self, jobs: object) -> None:
        self.total = len(jobs) if hasattr(jobs, "__len__") else None
        self.done = 0

    def step(self) -> None:
        self.done += 1
        end = "\n" if self.done == self.total else ""
        sys.stderr.write(f"\r{self.done}{f'/{self.total}' if self.total else ''} graded{end}")
        sys.stderr.flush()
