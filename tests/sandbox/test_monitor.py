"""The watch over a jail, on a real cgroup leaf, with a helper that says what the test wants."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from jailpy import Limits
from jailpy.kernel import probe
from jailpy.kernel.cgroup import Leaf
from jailpy.kernel.monitor import Fired, guest_pipes, watch
from jailpy.kernel.spec import Report, ReportKind, Stage

EXITED = Report(
    ReportKind.EXITED, Stage.NONE, 0, 0, wait_status=0, init_pid=0, disk_full=0, reserved=0, cpu_us=0, maxrss_kb=0
)


class Said:
    """A helper's reports, the second a while after the first."""

    beside = 1
    holder_pid = 0

    def __init__(self, first: Report) -> None:
        self.event = os.eventfd(1)
        self.left = [first, replace(first, kind=ReportKind.GONE)]
        self.later = threading.Timer(0.2, os.eventfd_write, (self.event, 1))
        self.killed = False

    def fileno(self) -> int:
        return self.event

    def reports(self) -> list[Report]:
        os.eventfd_read(self.event)
        if len(self.left) == 2:
            self.later.start()
        return [self.left.pop(0)]

    def kill(self) -> None:
        self.killed = True

    def close(self) -> None:
        self.later.join()
        os.close(self.event)


@pytest.fixture
def leaf() -> Iterator[Leaf | None]:
    home = probe.host().cgroup
    if home is None:
        yield None
        return
    made = Leaf.make(home, "watched")
    yield made
    made.remove()
    made.close()


@pytest.mark.needs("cgroup")
def test_what_confinement_took_is_not_the_guests(leaf: Leaf) -> None:
    """A guest's rusage holds the time before its first instruction; where there is a leaf, that alone decides."""
    said = Said(replace(EXITED, cpu_us=60_000_000))
    streams, theirs = guest_pipes()
    for fd in theirs:
        os.close(fd)
    try:
        facts = watch(said, leaf, Limits(cpu_s=0.02), streams, 0)
    finally:
        said.close()
    assert (facts.fired, said.killed, facts.cpu_s) == (Fired.NONE, False, 0.0)
