"""The host fails the library: no descriptors, no cgroups, a keeper that does not move, a cgroup that does not empty. Each
is an error that says so, or a run that is tried again; nothing leaks, and the next run works."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from jails import PATIENCE, guest, open_jail
from waiting import in_background, keepers, wait_until

from jailpy import HelperLost, InfrastructureError, Limits, Policy, Status, warm
from jailpy.kernel import launch, monitor, probe

SHORT_OF_DESCRIPTORS = Path(__file__).with_name("host_short_of_descriptors.py")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that gives a helper up after seconds, not a minute."""
    monkeypatch.setattr(monitor, "LAST_SECONDS", 0.5)
    for module in (launch, warm):
        monkeypatch.setattr(module, "SETUP_SECONDS", 3.0)


@pytest.mark.usefixtures("impatient", "reaped_orphans")
class TestStopped:
    """SIGSTOP to a keeper: nobody hears of the jail's end, and no kernel object ever tells."""

    def test_keeper_of_a_cold_jail(self, policy: Policy) -> None:
        with open_jail("cold", policy) as jail:
            run = in_background(jail, guest("sleep_60"), wall_s=1)
            stopped: set[int] = set()
            while not run.done():  # twice: a run is tried once more
                for keeper in keepers():
                    with contextlib.suppress(psutil.NoSuchProcess):
                        if keeper.pid not in stopped and keeper.children():
                            time.sleep(0.2)
                            keeper.suspend()
                            stopped.add(keeper.pid)
                time.sleep(0.01)
            with pytest.raises(HelperLost, match="has not said that it is gone"):
                run.result()
            assert len(stopped) == 2
            assert jail.run("print(1)").stdout == b"1\n"

    @pytest.mark.needs("cgroup")
    def test_keepers_of_zygotes(self, policy: Policy) -> None:
        limits = Limits(cpu_s=PATIENCE, wall_s=1)
        with open_jail("warm", policy) as jail:
            assert jail.run("print(1)", limits=limits).ok
            wait_until(lambda: bool(jail.statistics()["parked"]), "jails are made ahead")
            run = in_background(jail, guest("sleep_60"), wall_s=1)
            time.sleep(0.3)
            for keeper in keepers():
                keeper.suspend()
            assert run.result(PATIENCE).status is Status.WALL_TIME  # by the second try, in a cold jail
            assert [jail.run("print(2)", limits=limits).stdout for _ in range(6)] == [b"2\n"] * 6


def test_no_descriptors_from_any_point_on(way: str, policy: Policy) -> None:
    command = [sys.executable, str(SHORT_OF_DESCRIPTORS), way, ",".join(policy.allow_degraded)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False)
    assert done.returncode == 0, done
    outcomes, last, left, groups = json.loads(done.stdout)
    assert (last, left, groups) == ("2\n", 0, [])
    assert set(outcomes) <= {"1\n", "InfrastructureError", "HelperLost", "SetupError"}
    if way == "cold":  # a jail that is made ahead may have all that it needs
        assert outcomes[0] != "1\n", "too few at first"
    assert outcomes[-1] == "1\n", "enough at last"


@pytest.mark.needs("cgroup")
class TestCgroups:
    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """The kernel makes no further group in this process's home."""
        home = probe.host().cgroup
        assert home is not None
        limit = Path(home.path) / "cgroup.max.descendants"
        before = limit.read_text()
        limit.write_text("0")
        try:
            yield
        finally:
            limit.write_text(before)

    def test_a_full_one(self, way: str, policy: Policy) -> None:
        with open_jail(way, policy) as jail:
            with self.full(), pytest.raises(InfrastructureError, match="Resource temporarily unavailable"):
                jail.run("print(1)")
            assert jail.run("print(2)").stdout == b"2\n"

    def test_one_that_does_not_empty(self, way: str, policy: Policy) -> None:
        """A process that is none of the guest's, in the guest's group: it stands for one that the kernel cannot end."""
        home = probe.host().cgroup
        assert home is not None
        with open_jail(way, policy) as jail, subprocess.Popen(["sleep", "100"]) as intruder:
            try:
                jail.run("")
                run = in_background(jail, "import time\nprint(1, flush=True)\ntime.sleep(1)\nprint(2)")
                wait_until(lambda: len(list(self.guests_in(home.path))) > 0, "a guest runs")
                time.sleep(0.3)
                for leaf in self.guests_in(home.path):
                    (leaf / "cgroup.procs").write_text(str(intruder.pid))
                # Cold, the group is killed as a whole, with whoever is in it; warm, it is given up and not used again.
                assert run.result(PATIENCE).stdout == b"1\n2\n"
                assert (intruder.poll() is not None) or way == "warm"
                assert [jail.run("print(3)").stdout for _ in range(10)] == [b"3\n"] * 10
            finally:
                intruder.kill()
                intruder.wait()

    @staticmethod
    def guests_in(home: str) -> Iterator[Path]:
        """The groups in which a guest of ours sleeps."""
        for procs in Path(home).rglob("cgroup.procs"):
            with contextlib.suppress(OSError, psutil.Error):
                inside = [psutil.Process(int(pid)) for pid in procs.read_text().split()]
                if procs.parent.name != "self" and len(inside) >= 2 and any(each.num_threads() for each in inside):
                    yield procs.parent
