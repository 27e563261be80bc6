"""The module's functions: the calls of one default `Jail`, made at first use."""

from __future__ import annotations

import atexit
import concurrent.futures
import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jailpy.grading import Grade
from jailpy.jail import Jail, Job
from jailpy.limits import Limits
from jailpy.policy import Policy
from jailpy.programs import Code
from jailpy.status import Result


@functools.lru_cache(maxsize=8)
def _jail(policy: Policy | None) -> Jail:
    jail = Jail(policy)
    atexit.register(jail.close)
    return jail


# A forked child, a data loader's say, makes jails of its own.
os.register_at_fork(after_in_child=_jail.cache_clear)


def execute_code(code: Code, tests: Any, *, policy: Policy | None = None, **options: Any) -> float:
    """The reward of a program: `grade(...)` and nothing else. InfrastructureError, never 0, where judging failed."""
    return _jail(policy).execute_code(code, tests, **options)


def grade(code: Code, tests: Any, *, policy: Policy | None = None, **options: Any) -> Grade:
    """Judges a program. Options: language, limits, scoring, extract, in_process (see `Jail.grade`)."""
    return _jail(policy).grade(code, tests, **options)


def run(
    code: str | bytes,
    stdin: str | bytes = b"",
    *,
    policy: Policy | None = None,
    language: str = "python",
    files: Mapping[str, str | bytes] | None = None,
    limits: Limits | None = None,
) -> Result:
    """Runs a program without tests and says what happened."""
    return _jail(policy).run(code, stdin, language=language, files=files, limits=limits)


def submit(
    code: Code, tests: Any, *, policy: Policy | None = None, **options: Any
) -> concurrent.futures.Future[Grade]:
    """`grade` in the background."""
    return _jail(policy).submit(code, tests, **options)


def grade_many(
    jobs: Iterable[Job | Mapping[str, Any]],
    *,
    policy: Policy | None = None,
    ordered: bool = False,
    progress: bool = False,
) -> Iterator[Grade]:
    """Grades of many jobs, as they finish or in order (see `Jail.grade_many`)."""
    return _jail(policy).grade_many(jobs, ordered=ordered, progress=progress)


def execute_many(
    codes: Iterable[Code], tests: Any, *, policy: Policy | None = None, **options: Any
) -> list[float | None]:
    """Rewards of many programs; None where one could not be judged (see `Jail.execute_many`)."""
    return _jail(policy).execute_many(codes, tests, **options)
