"""Jails for tests, and the check that each test leaves nothing behind."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import psutil
import pytest
from jails import RunGuest, open_jail, run_guest_in

from jailpy import Jail, Policy, execute
from jailpy.kernel import probe

_SETTLE_SECONDS = 10.0
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Snapshot:
    """What a run could leave behind."""

    processes: frozenset[tuple[int, str]]
    leaves: frozenset[str]
    descriptors: Counter[str]
    mounts: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def take(cls) -> Snapshot:
        gc.collect()
        return cls(_processes(), _leaves(), _descriptors(), _mounts(), _folders())

    def beyond(self, before: Snapshot) -> dict[str, object]:
        """What is here and was not there before."""
        more = {
            "processes": self.processes - before.processes,
            "leaves": self.leaves - before.leaves,
            "descriptors": self.descriptors - before.descriptors,
            "mounts": self.mounts - before.mounts,
            "folders": self.folders - before.folders,
        }
        return {name: found for name, found in more.items() if found}


def _processes() -> frozenset[tuple[int, str]]:
    found = set()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            found.add((child.pid, f"{child.name()} {child.status()}"))
    return frozenset(found)


def _leaves() -> frozenset[str]:
    home = probe.host().cgroup
    return frozenset(entry.name for entry in os.scandir(home.path) if entry.is_dir()) if home else frozenset()


def _descriptors() -> Counter[str]:
    found: Counter[str] = Counter()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one of the listing
            found[re.sub(r"\[\d+\]", "", os.readlink(f"/proc/self/fd/{name}"))] += 1
    return found


def _mounts() -> frozenset[str]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        return frozenset(line for line in file if "jailpy" in line or "jail" in line.split(" - ")[1])


def _folders() -> frozenset[str]:
    return frozenset(name for name in os.listdir(tempfile.gettempdir()) if name.startswith("jailpy-"))


@pytest.fixture(scope="session", autouse=True)
def own_host(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Temporary folders that nobody else fills, orphans that come to this process, and a host that is probed."""
    tempfile.tempdir = str(tmp_path_factory.mktemp("host"))
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    probe.host()


@pytest.fixture(autouse=True)
def nothing_left(own_host: None, request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test: no process, cgroup, descriptor, mount or folder that was not there before."""
    before = Snapshot.take()
    yield
    deadline = time.monotonic() + _SETTLE_SECONDS
    while left := Snapshot.take().beyond(before):
        if time.monotonic() > deadline:
            pytest.fail(f"left behind by {request.node.name}: {left}", pytrace=False)
        time.sleep(0.05)


@pytest.fixture(params=["cold"])
def way(request: pytest.FixtureRequest) -> str:
    """How a guest's process comes about."""
    return str(request.param)


@pytest.fixture
def jail(way: str, policy: Policy) -> Iterator[Jail]:
    """One jail, closed at the end of the test."""
    with open_jail(way, policy) as opened:
        yield opened


@pytest.fixture
def run_guest(jail: Jail) -> RunGuest:
    """Runs a file of tests/guests: `run_guest("spin", stdin=b"", files=None, cpu_s=1, ...)`."""
    return run_guest_in(jail)


@pytest.fixture
def module_calls(policy: Policy) -> Iterator[Policy]:
    """For tests of the module's functions: the policy to give them; what they opened is closed at the end."""
    yield policy
    execute._jail(policy).close()
    execute._jail.cache_clear()
