"""`jailpy grade`: programs in as JSON lines, grades out as JSON lines, each as soon as it is known."""

from __future__ import annotations

import collections
import concurrent.futures
import functools
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, BinaryIO

from jailpy import grading
from jailpy.errors import InfrastructureError, UsageError
from jailpy.grading import Grade
from jailpy.jail import Jail, Job
from jailpy.limits import Limits
from jailpy.progress import Progress
from jailpy.scoring import Scoring

SCORINGS: dict[str, Callable[..., Scoring]] = {
    "seed": Scoring.seed,
    "fraction": Scoring.fraction,
    "binary": Scoring.binary,
    "table": Scoring.table,
    "efficiency": Scoring.efficiency,
    "growth": Scoring.growth,
}
_KEYS = ("id", "code", "tests", "language", "limits", "scoring", "extract", "in_process")


@dataclass(slots=True)
class Counts:
    """How the lines fared: judged, refused as they stood, or not judged for a fault of the host's."""

    judged: int = 0
    refused: int = 0
    failed: int = 0

    @property
    def all_judged(self) -> bool:
        return not self.refused and not self.failed


def grade_lines(
    jail: Jail, lines: Iterable[bytes], out: BinaryIO, *, defaults: Job, ordered: bool, progress: Progress
) -> Counts:
    """Grades every line and writes its grade, or its number and what is wrong with it. Reads lines as there is room."""
    writer = _Writer(out, ordered, progress)
    at_once = jail.workers * 4
    room = threading.BoundedSemaphore(at_once)
    waiting: list[concurrent.futures.Future[Grade]] = []
    try:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            room.acquire()
            entry = writer.expect(number, room)
            job, future = _begin(jail, line, number, defaults)
            waiting = [*(other for other in waiting if not other.done()), future]
            future.add_done_callback(functools.partial(_finish, entry, job))
            if writer.error:
                break
        for _ in range(at_once):  # a future is done a moment before its line is written
            room.acquire()
    finally:
        for future in waiting:
            future.cancel()
    if writer.error:
        raise writer.error
    return writer.counts


def _begin(jail: Jail, line: bytes, number: int, defaults: Job) -> tuple[Job, concurrent.futures.Future[Grade]]:
    """The line's job and the future of its grade, which holds the error where the line is no job."""
    job = replace(defaults, id=_id_of(line))
    try:
        job = parse_line(line, number, defaults)
        return job, jail.submit(
            job.code,
            job.tests,
            language=job.language,
            limits=job.limits,
            scoring=job.scoring,
            extract=job.extract,
            in_process=job.in_process,
        )
    except (UsageError, InfrastructureError) as error:
        refused: concurrent.futures.Future[Grade] = concurrent.futures.Future()
        refused.set_exception(error)
        return job, refused


def parse_line(line: bytes, number: int, defaults: Job) -> Job:
    """One line as a job; what it leaves out comes from `defaults`, its id from its number."""
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError("line", f"is not JSON that can be read: {str(error)[:100]}") from None
    if not isinstance(plain, dict):
        raise UsageError("line", f"a {type(plain).__name__} is no job; give an object with code and tests")
    for key in plain:
        if key not in _KEYS:
            raise UsageError(key, f"is no key of a job; it takes {', '.join(_KEYS)}")
    for key in ("code", "tests"):
        if key not in plain:
            raise UsageError(key, "is missing")
    if not isinstance(plain["code"], (str, dict)):
        raise UsageError("code", f"a {type(plain['code']).__name__} is neither a program's text nor a project's files")
    flags = {name: plain.get(name, getattr(defaults, name) or False) for name in ("extract", "in_process")}
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise UsageError(name, "must be true or false")
    return replace(
        defaults,
        code=plain["code"],
        tests=plain["tests"],
        language=plain.get("language", defaults.language),
        limits=_limits(plain["limits"]) if plain.get("limits") is not None else defaults.limits,
        scoring=_scoring(plain["scoring"]) if plain.get("scoring") is not None else defaults.scoring,
        **flags,
        id=_checked_id(plain.get("id", number)),
    )


def _limits(plain: object) -> Limits:
    known = [spec.name for spec in fields(Limits)]
    if not isinstance(plain, dict):
        raise UsageError("limits", f"must be an object with some of {', '.join(known)}")
    for key in plain:
        if key not in known:
            raise UsageError(f"limits.{key}", f"is no limit; choose from {', '.join(known)}")
    return Limits(**plain)


def scoring_of(text: str) -> Scoring:
    """A scoring as the command line has it: a name, or the JSON object that a job may have."""
    try:
        return _scoring(json.loads(text) if text.startswith("{") else text)
    except (ValueError, RecursionError) as error:  # a UsageError is a ValueError
        raise UsageError("--scoring", str(error)) from None


def _scoring(plain: object) -> Scoring:
    """A name, or an object of options with a `name`; without one it is an own table."""
    options = {"name": plain} if isinstance(plain, str) else plain
    if not isinstance(options, dict) or (name := options.get("name", "table")) not in list(SCORINGS):
        raise UsageError("scoring", f"must be one of {', '.join(SCORINGS)}, or an object with one of these as its name")
    try:
        return SCORINGS[name](**{key: value for key, value in options.items() if key != "name"})
    except TypeError as error:  # an option that is missing or not known
        raise UsageError("scoring", str(error)) from None


def _checked_id(given: Any) -> Any:
    try:
        json.dumps(given, allow_nan=False)
    except ValueError:
        raise UsageError("id", "holds a number that JSON has no word for") from None
    return given


def _id_of(line: bytes) -> Any:
    """The id of a line that is no job, where it has one."""
    try:
        plain = json.loads(line)
        return _checked_id(plain.get("id")) if isinstance(plain, dict) else None
    except (ValueError, RecursionError):
        return None


def _refusal(number: int, given_id: Any, error: Exception) -> str:
    return json.dumps({"line": number, "id": given_id, "reward": None, "error": str(error)})


def _finish(entry: _Entry, job: Job, done: concurrent.futures.Future[Grade]) -> None:
    """What is written about a finished job, and what it counts as."""
    try:
        entry.finish(replace(done.result(), id=job.id).to_json(), "judged")
    except UsageError as error:
        entry.finish(_refusal(entry.number, job.id, error), "refused")
    except InfrastructureError as error:
        entry.finish(grading.failed(error, job.id).to_json(), "failed")
    except concurrent.futures.CancelledError:
        entry.finish("", "")
    except Exception as error:  # noqa: BLE001  # a defect of ours must not lose the other lines
        entry.finish(_refusal(entry.number, job.id, RuntimeError(f"{type(error).__name__}: {error}")), "failed")


class _Writer:
    """Writes lines as they finish or in the order in which they were expected, from whichever thread finishes them."""

    def __init__(self, out: BinaryIO, ordered: bool, progress: Progress) -> None:
        self.out = out
        self.ordered = ordered
        self.progress = progress
        self.counts = Counts()
        self.error: OSError | None = None
        self.lock = threading.Lock()
        self.queue: collections.deque[_Entry] = collections.deque()

    def expect(self, number: int, room: threading.BoundedSemaphore) -> _Entry:
        entry = _Entry(self, number, room)
        if self.ordered:
            with self.lock:
                self.queue.append(entry)
        return entry

    def write(self, entry: _Entry) -> None:
        with self.lock:
            if not self.ordered:
                self._put(entry)
            while self.queue and self.queue[0].kind is not None:
                self._put(self.queue.popleft())

    def _put(self, entry: _Entry) -> None:
        if entry.kind:
            self._count_and_write(entry.text, entry.kind)
        entry.room.release()  # last, for who has all the room knows that all is written

    def _count_and_write(self, text: str, kind: str) -> None:
        setattr(self.counts, kind, getattr(self.counts, kind) + 1)
        if self.error is None:
            try:
                self.out.write(text.encode("ascii") + b"\n")
                self.out.flush()
            except OSError as error:
                self.error = error
        self.progress.step()


class _Entry:
    """A line's place in the output."""

    def __init__(self, writer: _Writer, number: int, room: threading.BoundedSemaphore) -> None:
        self.writer = writer
        self.number = number
        self.room = room
        self.text = ""
        self.kind: str | None = None

    def finish(self, text: str, kind: str) -> None:
        """What to write, and what it counts as ("" for nothing)."""
        self.text, self.kind = text, kind
        self.writer.write(self)
