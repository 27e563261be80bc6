"""Random hostile guests, and what must hold for each, whatever it does.

    python -m fuzz.guests --runs 10000 --seed 1 [--at-once 4] [--cold 0.1]

A guest that breaks an invariant is printed, kept in build/fuzz/, and can be made a case of corpus/guests/, which every run
goes through first."""

from __future__ import annotations

import argparse
import atexit
import ctypes
import math
import os
import secrets
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import NonInteractiveExampleWarning

from fuzz.actions import programs
from fuzz.count import Count
from jailpy import Jail, Limits, Policy, Result, Status, Verdict
from jailpy.kernel import probe

TREE = Path(__file__).parent.parent
CORPUS = Path(__file__).parent / "corpus" / "guests"
#: Where what a run leaves behind is looked for is said once, beside the tests.
sys.path.append(str(TREE / "tests" / "sandbox"))
from leftovers import Snapshot, processes  # type: ignore[import-not-found]  # noqa: E402

#: Longer than any limits below allow, starvation included, on a busy host: a run that takes this long hangs.
HANG_SECONDS = 240.0
_SETTLE_SECONDS = 30.0
_DISK_MB = 8  # the one size that is kept warm
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Guest:
    """A program, what it may use, how its process comes about, and what it is taken for."""

    code: str
    limits: Limits
    warm: bool = True
    use: str = "run"


@dataclass
class Tally:
    """What the guests of a run came to."""

    statuses: Counter[str] = field(default_factory=Counter)
    ends: int = 0


class Broken(AssertionError):
    """An invariant does not hold."""


def _limits(disk_mb: st.SearchStrategy[int]) -> st.SearchStrategy[Limits]:
    return st.builds(
        Limits,
        cpu_s=st.sampled_from([0.1, 0.3]),
        wall_s=st.sampled_from([0.3, 0.6, 1.0]),
        memory_mb=st.sampled_from([64, 200]),
        processes=st.sampled_from([1, 2, 8, 32]),
        output_mb=st.sampled_from([0.0001, 0.01, 1.0]),
        disk_mb=disk_mb,
        open_files=st.sampled_from([16, 64, 256]),
    )


def guests(cold: float) -> st.SearchStrategy[Guest]:
    """Guests of which a share starts cold."""
    warmly = st.builds(
        Guest, programs, _limits(st.just(_DISK_MB)), st.just(True), st.sampled_from(["run", "stdio", "call"])
    )
    coldly = st.builds(
        Guest, programs, _limits(st.sampled_from([1, 2, 32])), st.just(False), st.sampled_from(["run", "call"])
    )
    return st.sampled_from(range(100)).flatmap(lambda drawn: coldly if drawn < cold * 100 else warmly)


class Arena:
    """A warm and a cold jail, and the look for what guests leave behind in this process and below it."""

    def __init__(self, policy: Policy, at_once: int) -> None:
        self.warm = Jail(policy, workers=at_once)
        self.cold = Jail(policy, workers=at_once, warm=False)
        self.threads = ThreadPoolExecutor(at_once)
        self.tally = Tally()
        self.warm.run("", limits=Limits(disk_mb=_DISK_MB))
        self.belong, self.open = self._when_idle()
        self.open += 16 * at_once  # slots are made as they are needed, and each keeps its leaf open

    def _when_idle(self) -> tuple[int, int]:
        """How many processes and descriptors there are once all jails that are made ahead have been made."""
        counts: list[tuple[int, int]] = []
        while len(counts) < 20 or len(set(counts[-20:])) > 1:
            time.sleep(0.05)
            counts.append((len(processes()), _descriptors()))
        return counts[-1]

    def close(self) -> None:
        """Ends all jails."""
        self.threads.shutdown()
        self.warm.close()
        self.cold.close()

    def try_all(self, batch: Sequence[Guest]) -> None:
        """Runs guests at once. Broken where an invariant does not hold for one, or for what they leave."""
        runs = [self.threads.submit(self._try, guest) for guest in batch]
        for run in runs:
            run.result(HANG_SECONDS)
        for jail in {self.warm if guest.warm else self.cold for guest in batch}:
            after = jail.run("print(6 * 7)", limits=Limits(disk_mb=_DISK_MB, cpu_s=HANG_SECONDS, wall_s=HANG_SECONDS))
            if after.stdout != b"42\n":
                raise Broken(f"the next run is not as usual: {after}")
        self._settle()

    def _try(self, guest: Guest) -> None:
        jail = self.warm if guest.warm else self.cold
        if guest.use == "run":
            result = jail.run(guest.code, "some\ninput\n" * 5000, limits=guest.limits)
            self.tally.statuses[result.status.value] += 1
            self.tally.ends += result.stdout.endswith(b"end\n")
            problem = impossible(result, guest.limits)
        else:
            secret = secrets.token_hex(16)
            tests = {
                "stdio": {"input": "x", "expected_output": secret},
                "call": {"function": "f", "args": [1], "expected": secret},
            }
            verdict = jail.grade(guest.code, [tests[guest.use]], limits=guest.limits).verdict
            self.tally.statuses[verdict.value] += 1
            problem = f"verdict {verdict}" if verdict in (Verdict.PASSED, Verdict.SKIPPED, Verdict.INTERNAL_ERROR) else None
        if problem:
            raise Broken(problem)

    def _settle(self) -> None:
        """Nobody is left who does not belong, and nothing that they were reached by."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while len(found := processes()) > self.belong or _descriptors() > self.open:
            if time.monotonic() > deadline:
                now = f"{len(found)} processes, {_descriptors()} descriptors"
                raise Broken(f"left behind: {now}, where {self.belong} and {self.open} belong: {found}")
            time.sleep(0.005)


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def impossible(result: Result, limits: Limits) -> str | None:
    """What about a result cannot be; None where all of it can."""
    usage, size = result.usage, len(result.stdout) + len(result.stderr)
    rules: dict[str, bool] = {
        "a status that is none": result.status in (Status.UNSET, Status.INTERNAL_ERROR),
        "an exit code": (result.exit_code is not None) != (result.status is Status.EXITED)
        and result.status is not Status.DISK,
        "a signal": (result.signal is not None) != (result.status is Status.SIGNALLED) and result.status is not Status.DISK,
        "an exit code that is none": result.exit_code is not None and not 0 <= result.exit_code <= 255,
        "a signal that is none": result.signal is not None and not 1 <= result.signal <= 64,
        "more output than the limit": size > limits.output_bytes,
        "an output limit that was not met": result.status is Status.OUTPUT and size != limits.output_bytes,
        "a CPU limit that was not met": result.status is Status.CPU_TIME and usage.cpu_s < limits.cpu_s,
        "CPU time past the limit": result.status is Status.EXITED and usage.cpu_s > limits.cpu_s,
        "a wall limit that was not met": result.status is Status.WALL_TIME and usage.wall_s < limits.wall_s,
        "usage that is no number": not all(
            math.isfinite(n) and n >= 0 for n in (usage.wall_s, usage.cpu_s, usage.memory_peak)
        ),
    }
    broken = [name for name, holds in rules.items() if holds]
    return f"{', '.join(broken)}: {result}" if broken else None


def corpus() -> Iterator[Guest]:
    """Guests that broke something once, each both ways."""
    for path in sorted(CORPUS.glob("*.py")):
        for warm in (True, False):
            for use in ("run", "call"):
                yield Guest(path.read_text(encoding="utf-8"), Limits(0.3, 1.0, 200, 8, 1.0, _DISK_MB, 64), warm, use)


@contextmanager
def nothing_left() -> Iterator[None]:
    """Broken where something outlives what is inside: a process, cgroup, descriptor, mount or folder."""
    before = Snapshot.take()
    yield
    deadline = time.monotonic() + _SETTLE_SECONDS
    while left := Snapshot.take().beyond(before):
        if time.monotonic() > deadline:
            raise Broken(f"left behind when all is closed: {left}")
        time.sleep(0.05)


def fuzz(
    policy: Policy, runs: int, number: int, *, at_once: int = 4, cold: float = 0.1, step: Callable[[], None] = lambda: None
) -> Tally:
    """So many guests of this seed, `at_once` of them at a time. Broken where one breaks an invariant."""
    with nothing_left(), ExitStack() as stack:
        arena = Arena(policy, at_once)
        stack.callback(arena.close)
        for guest in corpus():
            arena.try_all([guest])

        @seed(number)
        @settings(
            max_examples=math.ceil(runs / at_once),
            database=None,
            deadline=None,
            phases=[Phase.generate],  # what a race broke does not shrink
            suppress_health_check=list(HealthCheck),
        )
        @given(st.lists(guests(cold), min_size=at_once, max_size=at_once))
        def every(batch: list[Guest]) -> None:
            try:
                arena.try_all(batch)
            except Exception as error:  # whatever broke: Hypothesis makes it smaller
                _keep(batch, number)
                broken.append(error)
                raise
            for _ in batch:
                step()

        broken: list[Exception] = []
        try:
            every()
        except Exception:
            if broken:  # of Hypothesis's pages of code, which are in files, the cause alone
                raise broken[0] from None
            raise
        return arena.tally


def _keep(batch: Sequence[Guest], number: int) -> None:
    folder = TREE / "build" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    for at, guest in enumerate(batch):
        path = folder / f"guest-{number}-{os.getpid()}-{at}.py"
        path.write_text(f"# {guest.limits}, warm={guest.warm}, {guest.use}\n{guest.code}", encoding="utf-8")
        print(f"kept: {path}", file=sys.stderr)


def own_host() -> None:
    """A temporary folder that nobody else fills, and orphans that come to this process instead of the host's PID 1."""
    tempfile.tempdir = tempfile.mkdtemp(prefix="fuzz-")
    atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    probe.host()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.guests", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000, help="guests (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32), help="default: a new one, which is printed")
    parser.add_argument("--at-once", type=int, default=4, help="guests that run at a time (default: %(default)s)")
    parser.add_argument("--cold", type=float, default=0.1, help="share of guests that start cold (default: %(default)s)")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", NonInteractiveExampleWarning)
    print(f"seed {arguments.seed}", flush=True)
    own_host()
    progress = Count(arguments.runs, "guests")
    begun = time.monotonic()
    tally = fuzz(
        Policy.from_environment(),
        arguments.runs,
        arguments.seed,
        at_once=arguments.at_once,
        cold=arguments.cold,
        step=progress.step,
    )
    print(f"{progress.done} guests of seed {arguments.seed} in {time.monotonic() - begun:.0f} s: nothing broke")
    print(", ".join(f"{name} {count}" for name, count in tally.statuses.most_common()), f"; {tally.ends} came to their end")


if __name__ == "__main__":
    main()
