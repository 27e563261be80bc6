"""`Jail`: one policy, one set of limits, and the calls that run programs under them."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import itertools
import logging
import os
import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, TypeVar

from jailpy import capacity, checking, cold, grading, interaction, languages, measuring, programs, warm
from jailpy.efficiency import Efficiency
from jailpy.errors import HelperLost, InfrastructureError, Overloaded, SetupError, UsageError
from jailpy.extract import Extract, program_of
from jailpy.grading import Grade, Outcome
from jailpy.kernel.monitor import STARVATION_CAP
from jailpy.kernel.probe import host
from jailpy.limits import MOST, Limits
from jailpy.lower import enforced
from jailpy.pair import run_pair
from jailpy.policy import Policy
from jailpy.pool import Pool
from jailpy.programs import Code, Program, Task
from jailpy.project import ProjectTest
from jailpy.scheduler import Scheduler
from jailpy.scoring import Scoring
from jailpy.status import Result
from jailpy.testcase import CheckTest, InteractTest, Judge, Refereed, Test, is_refereed, parse_tests
from jailpy.trees import as_bytes
from jailpy.verdict import Verdict
from jailpy.workers import Workers

_T = TypeVar("_T")
_Run = Callable[..., Result]  # a run in a jail that is ready; `crossing` or `talk` ties it to another

log = logging.getLogger("jailpy")

_MOST_POOLS = 4  # sizes of private space that are kept warm; others run cold


@dataclass(frozen=True, slots=True)
class Job:
    """One program to grade. What is None comes from the jail.

    code        a program's text, or, where all tests are project tests, a mapping of its files' names to their contents
    extract     True where `code` is a model's answer that holds the program (see `extract_code`), or a function that
                takes the program from it; where there is none, every test is a compile_error
    in_process  assert and project tests may run beside the program, which can then forge its outcome
    stop_early  tests that have not begun when one fails are skipped
    priority    higher goes first; within a priority, callers (any hashable name) take turns
    seconds     each test must have begun by then, or the program is not judged
    id          comes back in the grade
    """

    code: Code
    tests: Any
    language: str = "python"
    limits: Limits | None = None
    scoring: Scoring | None = None
    extract: Extract = None
    in_process: bool = False
    stop_early: bool = False
    priority: int = 0
    caller: Hashable = None
    seconds: float | None = None
    id: Any = None


class Jail:
    """Runs and grades programs under one policy.

    policy    what guests may do
    limits    how much of it, unless a call gives its own
    workers   how many jails run at once; default: the CPUs that this process may use
    preload   modules that warm interpreters import ahead, beyond a set of the standard library
    warm      False makes every jail while the caller waits

    A context manager; `close` waits for what runs. Safe to use from many threads.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        limits: Limits | None = None,
        *,
        workers: int | None = None,
        preload: Sequence[str] = (),
        warm: bool = True,
    ) -> None:
        if workers is not None and (type(workers) is not int or workers < 1):
            raise UsageError("workers", f"{workers!r} must be a whole number of at least 1")
        if policy is not None and not isinstance(policy, Policy):
            raise UsageError("policy", f"{type(policy).__name__} given; pass jailpy.Policy(...)")
        self.policy = policy or Policy.from_environment()
        self.limits = _limits(limits) or Limits()
        self.workers = workers or capacity.cpus()
        languages.interpreter(self.policy)  # a wrong one is the caller's mistake, told now
        self.warm = warm
        self._preload = (*languages.PRELOAD, *preload)
        self._scheduler = Scheduler(self.workers, capacity.memory_budget())
        self._beside = concurrent.futures.ThreadPoolExecutor(self.workers, "jailpy-beside")
        self._pools: dict[int, Pool] = {}
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._checkers = Workers()
        self._finalizer = weakref.finalize(self, _close_all, self._pools, self._checkers, self._process)

    def __enter__(self) -> Jail:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Waits for running programs, then ends every zygote and jail. In a forked child it does nothing: they are not
        the child's."""
        if os.getpid() == self._process:
            self._scheduler.close()
            self._beside.shutdown()
        self._finalizer()

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
        data = as_bytes(stdin, "stdin")
        used = _limits(limits) or self.limits
        task = Task(programs.source(code), stdin=data, files=programs.check_files(files, used))
        return self._scheduler.run(lambda: self._run(task, used), memory=used.memory_bytes)

    def grade(self, code: Code, tests: Any, **options: Any) -> Grade:
        """Judges a program by its tests. InfrastructureError where that fails; UsageError for a wrong argument.

        Options are Job's fields: language, limits, scoring, extract, in_process, stop_early, priority, caller, seconds,
        id."""
        job = Job(code, tests, **options)
        work = self._prepare(job)
        if len(work.tests) == 1 and work.scoring.measure is None:
            outcome = self._scheduler.run(lambda: self._outcome(work, 0), memory=work.memory(0))
            return work.grade([outcome])
        return self._begin(work).result()

    def execute_code(self, code: Code, tests: Any, **options: Any) -> float:
        """The reward of `grade`, which takes the same arguments."""
        reward = self.grade(code, tests, **options).reward
        assert reward is not None  # a grade without a reward is only made for batches
        return reward

    def submit(self, code: Code, tests: Any, **options: Any) -> concurrent.futures.Future[Grade]:
        """`grade` in the background. Async callers wrap the future with asyncio.wrap_future. Overloaded when the queue is
        full; a future that is cancelled in time never starts its tests."""
        return self._begin(self._prepare(Job(code, tests, **options)))

    def grade_many(
        self, jobs: Iterable[Job | Mapping[str, Any]], *, ordered: bool = False, progress: bool = False
    ) -> Iterator[Grade]:
        """Grades as they finish, or in the order of the jobs. Takes jobs as it has room for them, so an endless
        iterable is fine. A program that could not be judged gives a grade whose reward is None and whose error says
        why. `progress` shows a count on stderr."""
        return self._grade_many(map(_job, jobs, itertools.count()), ordered, _Progress(jobs) if progress else None)

    def execute_many(
        self, codes: Iterable[Code], tests: Any, *, progress: bool = False, **options: Any
    ) -> list[float | None]:
        """Rewards of many programs, in their order: against one set of tests, or, where `tests` is a list of lists, each
        against its own. None where judging failed."""
        listed = list(codes)
        own = _one_set_each(tests, len(listed))
        jobs = [Job(code, own[at] if own else tests, **options) for at, code in enumerate(listed)]
        return [grade.reward for grade in self.grade_many(jobs, ordered=True, progress=progress)]

    def statistics(self) -> dict[str, int]:
        """What waits, what runs, how many jails are parked, how many processes for checkers are idle."""
        with self._lock:
            parked = sum(len(pool.parked) for pool in self._pools.values())
        return {**self._scheduler.statistics(), "parked": parked, "checkers": len(self._checkers), "workers": self.workers}

    def _grade_many(self, jobs: Iterator[Job], ordered: bool, progress: _Progress | None) -> Iterator[Grade]:
        waiting: dict[concurrent.futures.Future[Grade], Job] = {}
        try:
            while True:
                while len(waiting) < self.workers * 4 and (job := next(jobs, None)) is not None:
                    waiting[self._begin(self._prepare(job))] = job
                if not waiting:
                    return
                for future in self._finished(waiting, ordered):
                    job = waiting.pop(future)
                    if progress:
                        progress.step()
                    yield _grade_or_say_why(future, job)
        finally:
            for future in waiting:
                future.cancel()

    @staticmethod
    def _finished(
        waiting: Mapping[concurrent.futures.Future[Grade], Job], ordered: bool
    ) -> list[concurrent.futures.Future[Grade]]:
        if ordered:
            first = next(iter(waiting))
            concurrent.futures.wait([first])
            return [first]
        return list(concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED).done)

    def _prepare(self, job: Job) -> _Work:
        languages.check_language(job.language)
        tests = parse_tests(job.tests, in_process=job.in_process)
        limits = _limits(job.limits) or self.limits
        code, flaw = _program(job)
        programs.check_program(code, tests, limits)
        for i, test in enumerate(tests):
            if isinstance(test, ProjectTest):
                languages.check_runner(self.policy, test.modules, f"tests[{i}].modules")
        scoring = _scoring(job.scoring)
        if scoring is not None and scoring.measure is not None:
            measuring.check(scoring.measure, tests)
        return _Work(job, tests, code, limits, enforced(self.policy, host()), flaw)

    def _begin(self, work: _Work) -> concurrent.futures.Future[Grade]:
        """Queues the program's tests, each a run of its own; the future holds the grade when the last has ended."""
        gathering = _Gathering(work, self._submit_test, self._submit_measurement)
        gathering.begin()
        return gathering.future

    def _submit_test(self, gathering: _Gathering, index: int) -> concurrent.futures.Future[Outcome]:
        job = gathering.work.job
        return self._scheduler.submit(
            functools.partial(self._outcome_or_skip, gathering, index),
            memory=gathering.work.memory(index),
            priority=job.priority,
            caller=job.caller,
            seconds=job.seconds,
        )

    def _submit_measurement(self, gathering: _Gathering) -> concurrent.futures.Future[_Measured]:
        """All its runs are one turn in the queue: what is compared must run close together."""
        job = gathering.work.job
        return self._scheduler.submit(
            functools.partial(self._measure, gathering),
            memory=max(map(gathering.work.memory, range(len(gathering.work.tests)))),
            priority=job.priority,
            caller=job.caller,
        )

    def _measure(self, gathering: _Gathering) -> _Measured:
        work = gathering.work
        assert work.scoring.measure is not None
        assert work.code is not None  # who is measured has passed

        def run(test: Test, code: Program) -> Outcome:
            if gathering.over:
                raise concurrent.futures.CancelledError
            return self._outcome(replace(work, tests=(test,), code=code), 0)

        return measuring.measure(work.scoring.measure, work.tests, gathering.outcomes, work.code, run)

    def _outcome_or_skip(self, gathering: _Gathering, index: int) -> Outcome:
        if gathering.over:
            return grading.SKIPPED
        return self._outcome(gathering.work, index)

    def _outcome(self, work: _Work, index: int) -> Outcome:
        if work.code is None:
            return work.flaw
        test = work.tests[index]
        if is_refereed(test):
            return grading.judge_refereed(*self._run_refereed(test, work.code, work.limits), test, work.limits)
        task = programs.task_for(test, work.code, work.limits)
        if isinstance(test, InteractTest):
            interactor = programs.judge_task(test.interactor, test.input, None, test.answer)
            its_limits = test.interactor.within(work.limits)
            return interaction.judge(self._run_crossed((task, work.limits), (interactor, its_limits)))
        result = self._run(task, work.limits)
        if isinstance(test, CheckTest):
            return checking.judge(test, result, work.limits, self._checkers, self._run)
        return grading.judge(test, result, work.limits)

    def _run_refereed(self, test: Refereed, code: Program, limits: Limits) -> tuple[Result, Result]:
        """The program's result and the test code's, each in a jail of its own."""
        program, referee = programs.pair_for(test, code, limits)
        # The wall time is the program's: what waits for a program that is starved of CPU is not starved itself.
        patient = replace(limits, wall_s=min(limits.wall_s * STARVATION_CAP, MOST))

        return self._both(
            (program, limits),
            (referee, patient),
            lambda one, other: run_pair(
                lambda end: one(crossing=end), lambda end: other(crossing=end), grading.is_done, self._beside
            ),
        )

    def _run_crossed(self, program: tuple[Task, Limits], interactor: tuple[Task, Limits]) -> interaction.Conversation:
        """Two runs at once, each one's stdout the other's stdin."""
        return self._both(
            program,
            interactor,
            lambda one, other: interaction.converse(lambda talk: one(talk=talk), lambda talk: other(talk=talk)),
        )

    def _run(self, task: Task, limits: Limits) -> Result:
        def attempt(warmly: bool) -> Result:
            with contextlib.ExitStack() as jails, _as_ours():
                return self._ready(jails, task, limits, warmly)()

        return _twice(attempt)

    def _both(self, one: tuple[Task, Limits], other: tuple[Task, Limits], start: Callable[[_Run, _Run], _T]) -> _T:
        """Two runs that belong together. Both jails are there before either starts: nobody's time runs while the other's is
        made."""

        def attempt(warmly: bool) -> _T:
            with contextlib.ExitStack() as jails, _as_ours():
                return start(self._ready(jails, *one, warmly), self._ready(jails, *other, warmly))

        return _twice(attempt)

    def _ready(self, jails: contextlib.ExitStack, task: Task, limits: Limits, warmly: bool) -> _Run:
        """A run that waits for its call, which may tie it to another."""
        pool = self._pool(limits) if warmly else None
        if pool is None:
            return functools.partial(cold.run_python, task, self.policy, limits)
        jail = jails.enter_context(pool.jail())
        return functools.partial(jail.run, task, limits, enforced(self.policy, host()))

    def _pool(self, limits: Limits) -> Pool | None:
        """Parked jails whose private space is of this size; None where jails are made cold."""
        if not self.warm or not warm.possible(host()):
            return None
        if os.getpid() != self._process:
            raise RuntimeError("this Jail was made before a fork and belongs to the parent; make one in this process")
        with self._lock:
            pool = self._pools.get(limits.disk_mb)
            if pool is None:
                if len(self._pools) >= _MOST_POOLS:
                    return None
                lines = min(self.workers, capacity.cpus())
                parked = self.workers + lines + 1  # those that run count, and what follows them is made meanwhile
                pool = Pool(self.policy, limits, host(), self._preload, lines=lines, parked=parked)
                self._pools[limits.disk_mb] = pool
            return pool


def _twice(attempt: Callable[[bool], _T]) -> _T:
    """Once more where a jail failed: nothing that a guest does leaves its jail, so a second run is safe. That one is made
    cold: it must not meet a second zygote that is just dying."""
    try:
        return attempt(True)
    except (SetupError, HelperLost) as error:
        log.warning("a run failed before it could be judged, trying once more: %s", error)
        return attempt(False)


@contextlib.contextmanager
def _as_ours() -> Iterator[None]:
    """An OSError is of a call of ours: what a guest does is no exception."""
    try:
        yield
    except OSError as error:
        raise InfrastructureError(f"the host refused what a jail needs: {error}") from error


def _close_all(pools: dict[int, Pool], checkers: Workers, process: int) -> None:
    checkers.close()
    if os.getpid() == process:
        for pool in pools.values():
            pool.close()
    pools.clear()


@dataclass(frozen=True, slots=True)
class _Work:
    """A job, checked. Its code is None where there is none that could run, which is then every test's outcome, `flaw`."""

    job: Job
    tests: tuple[Test, ...]
    code: Program | None
    limits: Limits
    enforced: dict[str, str]
    flaw: Outcome = grading.NO_CODE

    def memory(self, index: int) -> int:
        """Bytes that the runs of one test may use at once."""
        test, own = self.tests[index], self.limits.memory_bytes
        if is_refereed(test):
            return own * 2
        if isinstance(test, InteractTest):
            return own + test.interactor.within(self.limits).memory_bytes
        if isinstance(test, CheckTest) and isinstance(test.checker, Judge):
            return max(own, test.checker.within(self.limits).memory_bytes)
        return own

    @property
    def scoring(self) -> Scoring:
        return self.job.scoring or Scoring.seed()

    def grade(self, outcomes: Sequence[Outcome], efficiency: Efficiency | None = None) -> Grade:
        return grading.summarise(self.tests, outcomes, self.scoring, self.enforced, self.job.id, efficiency)

    def to_measure(self, outcomes: Sequence[Outcome]) -> bool:
        verdicts = [outcome.verdict for outcome in outcomes]
        return self.scoring.to_measure(verdicts, [test.weight for test in self.tests]) is not None


_Measured = tuple[list[Outcome], Efficiency | None]


class _Gathering:
    """The outcomes of one program's tests as they come in, and the future of its grade.

    All tests are queued at once, or, where an early one may make the others needless, one after the other. Where the
    scoring asks for it, the cost of a program that passed is measured after that."""

    def __init__(
        self,
        work: _Work,
        submit: Callable[[_Gathering, int], concurrent.futures.Future[Outcome]],
        submit_measurement: Callable[[_Gathering], concurrent.futures.Future[_Measured]],
    ) -> None:
        self.work = work
        self.submit = submit
        self.submit_measurement = submit_measurement
        self.efficiency: Efficiency | None = None
        self.future: concurrent.futures.Future[Grade] = concurrent.futures.Future()
        self.outcomes: list[Outcome] = [grading.SKIPPED] * len(work.tests)
        self.left = len(work.tests)
        self.failed = False
        self.error: BaseException | None = None
        self.lock = threading.Lock()

    @property
    def over(self) -> bool:
        """Whether tests that have not begun need not begin."""
        return self.future.cancelled() or self.error is not None or (self.failed and self.work.job.stop_early)

    def begin(self) -> None:
        """Queues the tests. Overloaded passes through when there is no room for the first of them."""
        for index in range(1 if self.work.job.stop_early else len(self.work.tests)):
            try:
                run = self.submit(self, index)
            except Overloaded as error:
                if index == 0:
                    raise
                self._came(index, None, error)
            else:
                run.add_done_callback(functools.partial(self._ended, index))

    def _ended(self, index: int, run: concurrent.futures.Future[Outcome]) -> None:
        error = concurrent.futures.CancelledError() if run.cancelled() else run.exception()
        self._came(index, None if error else run.result(), error)
        if self.work.job.stop_early and index + 1 < len(self.work.tests):
            self._next(index + 1)

    def _next(self, index: int) -> None:
        if self.over:
            for rest in range(index, len(self.work.tests)):
                self._came(rest, grading.SKIPPED, None)
            return
        try:
            run = self.submit(self, index)
        except Exception as error:  # noqa: BLE001  # a full or closed queue: the grade's future is who tells
            for rest in range(index, len(self.work.tests)):
                self._came(rest, None, error)
        else:
            run.add_done_callback(functools.partial(self._ended, index))

    def _came(self, index: int, outcome: Outcome | None, error: BaseException | None) -> None:
        with self.lock:
            self.left -= 1
            if outcome is not None:
                self.outcomes[index] = outcome
                self.failed = self.failed or outcome.verdict is not Verdict.PASSED
            else:
                self.error = self.error or error
            last = self.left == 0
        if last and not self.over and self.work.to_measure(self.outcomes):
            self._measure()
        elif last:
            self._settle()

    def _measure(self) -> None:
        try:
            run = self.submit_measurement(self)
        except Exception as error:  # noqa: BLE001  # a full or closed queue: the grade's future is who tells
            self.error = error
            self._settle()
        else:
            run.add_done_callback(self._measured)

    def _measured(self, run: concurrent.futures.Future[_Measured]) -> None:
        self.error = concurrent.futures.CancelledError() if run.cancelled() else run.exception()
        if self.error is None:
            self.outcomes, self.efficiency = run.result()
        self._settle()

    def _settle(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.work.grade(self.outcomes, self.efficiency))


def _grade_or_say_why(future: concurrent.futures.Future[Grade], job: Job) -> Grade:
    try:
        return future.result()
    except InfrastructureError as error:
        log.error("a program could not be judged: %s", error)
        return grading.failed(error, job.id)


def _program(job: Job) -> tuple[Program | None, Outcome]:
    """The job's program, or None and the outcome of every test: what is wrong with files is their author's doing, who is
    judged, but that they are no files is the caller's."""
    found = program_of(job.code, job.extract, job.language)
    if found is None and job.extract:
        return None, grading.NO_CODE
    try:
        return programs.program(found), grading.NO_CODE
    except UsageError as error:
        if not isinstance(found, Mapping) or not all(isinstance(x, (str, bytes)) for pair in found.items() for x in pair):
            raise
        return None, grading.no_program(error)


def _limits(limits: object) -> Limits | None:
    if limits is None or isinstance(limits, Limits):
        return limits
    raise UsageError("limits", f"{type(limits).__name__} given; pass jailpy.Limits(...)")


def _scoring(scoring: object) -> Scoring | None:
    if scoring is None or isinstance(scoring, Scoring):
        return scoring
    raise UsageError("scoring", f"{type(scoring).__name__} given; pass jailpy.Scoring.seed() or another")


def _job(job: Job | Mapping[str, Any], number: int) -> Job:
    if isinstance(job, Job):
        return job
    try:
        return Job(**job)
    except TypeError as error:
        raise UsageError(f"jobs[{number}]", f"{error}; a job has code, tests, language, limits, scoring, id") from None


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
