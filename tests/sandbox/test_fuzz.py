"""The short form of fuzz/: random hostile guests and random lives of a pool. Hours of it: `python -m fuzz.guests`."""

from __future__ import annotations

import subprocess

import pytest

from fuzz import guests, pool
from jailpy import Limits, Policy, Result, Status, Usage

SEED = 1  # the same guests each time; `python -m fuzz.guests` takes a new one unless it is told

@pytest.mark.timeout(400)
def test_random_guests(policy: Policy) -> None:
    tally = guests.fuzz(policy, runs=100, number=SEED)
    assert tally.statuses.total() >= 100
    assert len(tally.statuses) >= 4, "these guests are not hostile enough"


@pytest.mark.timeout(400)
def test_random_lives_of_a_pool(policy: Policy) -> None:
    pool.fuzz(policy, runs=3, number=SEED, steps=15)


USAGE = Usage(wall_s=0.5, cpu_s=0.2, memory_peak=1 << 20)


@pytest.mark.parametrize(
    ("result", "what"),
    [
        (Result(Status.EXITED, 0, None, b"", b"", USAGE, {}), None),
        (Result(Status.SIGNALLED, None, 9, b"", b"", USAGE, {}), None),
        (Result(Status.UNSET, None, None, b"", b"", USAGE, {}), "a status that is none"),
        (Result(Status.EXITED, None, None, b"", b"", USAGE, {}), "an exit code"),
        (Result(Status.EXITED, 256, None, b"", b"", USAGE, {}), "an exit code that is none"),
        (Result(Status.CPU_TIME, None, None, b"", b"", USAGE, {}), "a CPU limit that was not met"),
        (Result(Status.WALL_TIME, None, None, b"", b"", USAGE, {}), "a wall limit that was not met"),
        (Result(Status.OUTPUT, None, None, b"x", b"", USAGE, {}), "an output limit that was not met"),
        (Result(Status.EXITED, 0, None, bytes(2 << 20), b"", USAGE, {}), "more output than the limit"),
    ],
)
def test_what_cannot_be_is_found(result: Result, what: str | None) -> None:
    found = guests.impossible(result, Limits(cpu_s=1, wall_s=1, output_mb=1))
    assert found is None if what is None else found is not None and found.startswith(what)


def test_a_leak_is_found() -> None:
    """The control: a process that stays is seen."""
    child = None
    try:
        with pytest.raises(guests.Broken, match="left behind"), pytest.MonkeyPatch.context() as patch:
            patch.setattr(guests, "_SETTLE_SECONDS", 0.1)
            with guests.nothing_left():
                child = subprocess.Popen(["sleep", "60"])
    finally:
        assert child is not None
        child.kill()
        child.wait()
