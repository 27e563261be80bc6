"""Jails for tests, and the check that each test leaves nothing behind."""

from __future__ import annotations

import ctypes
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest
from jails import WAYS, RunGuest, open_jail, run_guest_in
from leftovers import Snapshot, processes
from waiting import reap_all, wait_until

from jailpy import Jail, Policy, execute, warm
from jailpy.kernel import probe

_SETTLE_SECONDS = 10.0
_PR_SET_CHILD_SUBREAPER = 36


@pytest.fixture(scope="session", autouse=True)
def own_host(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Temporary folders that nobody else fills, orphans that come to this process, and a host that is probed."""
    tempfile.tempdir = str(tmp_path_factory.mktemp("host"))
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    probe.host()


def settle(before: Snapshot, who: str) -> None:
    """Fails where something is left that was not there before."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while left := Snapshot.take().beyond(before):
        if time.monotonic() > deadline:
            pytest.fail(f"left behind by {who}: {left}", pytrace=False)
        time.sleep(0.05)


class _WarmJails:
    """The warm jail of a test module: open from its first use to the module's end, since zygotes take a while to start.

    In between, its own processes come and go, so a test's check can only count: a guest's would be more than belong."""

    def __init__(self) -> None:
        self.jail: Jail | None = None
        self.belong = 0  # processes of an idle jail, for each size of private space that was asked for

    def open(self, policy: Policy) -> Jail:
        if self.jail is None:
            self.jail = open_jail("warm", policy)
            self.jail.run("")
            self.belong = _count_when_idle()
        return self.jail

    def close(self) -> None:
        if self.jail is not None:
            self.jail.close()
            self.jail = None

    def settle(self, who: str) -> None:
        assert self.jail is not None
        deadline = time.monotonic() + _SETTLE_SECONDS
        belong = self.belong * len(self.jail._pools) + self.jail.statistics()["checkers"]
        while len(found := processes()) > belong:
            if time.monotonic() > deadline:
                pytest.fail(f"{len(found)} processes after {who}, where {belong} belong", pytrace=False)
            time.sleep(0.05)


def _count_when_idle() -> int:
    """How many processes there are when jails that are made ahead have been made."""
    counts = [-1]
    while len(counts) < 10 or len(set(counts[-10:])) > 1:
        time.sleep(0.1)
        counts.append(len(processes()))
    return counts[-1]


@pytest.fixture(scope="module", autouse=True)
def warm_jails(own_host: None, request: pytest.FixtureRequest) -> Iterator[_WarmJails]:
    """After each module: nothing is left of anything that its tests opened."""
    before = Snapshot.take()
    jails = _WarmJails()
    yield jails
    jails.close()
    settle(before, request.node.name)


@pytest.fixture(autouse=True)
def nothing_left(warm_jails: _WarmJails, request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test: no process, cgroup, descriptor, mount or folder that was not there before."""
    before = Snapshot.take()
    open_before = warm_jails.jail is not None
    yield
    if open_before or warm_jails.jail is not None:
        warm_jails.settle(request.node.name)
    else:
        settle(before, request.node.name)


@pytest.fixture
def reaped_orphans(nothing_left: None) -> Iterator[None]:
    """Orphans of killed keepers come to this process, which has to wait for them, as a host's PID 1 does."""
    yield
    wait_until(reap_all, "children have ended")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, unavailable: Callable[[str], NoReturn]) -> str:
    """How a guest's process comes about."""
    chosen = str(request.param)
    if chosen == "warm" and not warm.possible(probe.host()):
        if probe.host().missing.keys() & Policy.from_environment().allow_degraded:
            pytest.skip("jails are made ahead only on a host with every namespace and a cgroup")
        unavailable("jails are made ahead only on a host with every namespace and a cgroup")
    return chosen


@pytest.fixture
def jail(way: str, policy: Policy, warm_jails: _WarmJails) -> Iterator[Jail]:
    """A jail to run guests in."""
    if way == "warm":
        yield warm_jails.open(policy)
        return
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
