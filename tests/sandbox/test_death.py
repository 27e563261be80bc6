"""Nothing of a guest outlives the process that ran it, whoever dies; a large and busy host is no hindrance."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from jails import PATIENCE, guest, open_jail
from waiting import in_background, keepers, wait_until

from jailpy import HelperLost, InfrastructureError, Limits, Policy, Status
from jailpy import run as run_program
from jailpy.kernel import cgroup, probe

HOST = Path(__file__).with_name("host_of_many.py")
GUESTS_AT_ONCE = 50


def below(pid: int) -> list[psutil.Process]:
    """All processes that descend from this one."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run: no zombies, and no later processes with their numbers."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@pytest.fixture(autouse=True)
def reaped_orphans(nothing_left: None) -> Iterator[None]:
    """Orphans come to this process (conftest.py), which has to wait for them, as a host's PID 1 does."""
    yield
    wait_until(lambda: not _reap() or not alive(psutil.Process().children()), "orphans have ended", 5)
    time.sleep(0.1)
    _reap()


def _reap() -> bool:
    """Waits for those that have ended. False where this process has no child."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def mounts() -> int:
    return len(Path("/proc/self/mountinfo").read_bytes().splitlines())


@contextlib.contextmanager
def host(kind: str, way: str, count: int, policy: Policy, *rest: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that uses jailpy."""
    command = [sys.executable, str(HOST), kind, way, str(count), ",".join(policy.allow_degraded), *rest]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()




@pytest.mark.timeout(400)
def test_a_killed_host_leaves_nothing(way: str, policy: Policy) -> None:
    # At least a PID 1 and a guest for each run; in cold jails each has a keeper of its own too.
    least = GUESTS_AT_ONCE * 2
    mounted = mounts()
    with host("sleepers", way, GUESTS_AT_ONCE if way == "cold" else 8, policy) as process:
        assert process.stdout is not None
        home = process.stdout.readline().strip()
        if way == "warm":
            least = 8 * 2
        wait_until(lambda: len(below(process.pid)) >= least, f"{least} processes", 300)
        time.sleep(0.5)
        left = below(process.pid)
        process.kill()
        process.wait()
        wait_until(lambda: not alive(left), "all processes are gone", 20)
        wait_until(lambda: home == "-" or not os.path.exists(home), f"{home} is gone", 20)
    assert mounts() == mounted


@pytest.mark.timeout(400)
def test_a_host_killed_while_jails_start_leaves_nothing(way: str, policy: Policy) -> None:
    for moment in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        with host("sleepers", way, 8, policy) as process:
            assert process.stdout is not None
            home = process.stdout.readline().strip()
            wait_until(lambda: bool(below(process.pid)), "the first jail begins")
            time.sleep(moment)
            left = below(process.pid)
            process.kill()
            process.wait()
            wait_until(lambda: not alive(left), "all processes are gone", 20)  # noqa: B023
            assert swept(home, policy)


def swept(home: str, policy: Policy) -> bool:
    """Whether a dead host's folder of cgroups is gone: with its last keeper, or, where it died before it had one, with
    the start of the next process that makes jails."""
    if os.path.exists(home):
        with host("first", "cold", 1, policy) as process:
            process.communicate(timeout=PATIENCE)
    return not os.path.exists(home)


class TestKeeper:
    """Cold jails: each has a keeper of its own."""

    def test_killed_twice(self, policy: Policy) -> None:
        with open_jail("cold", policy) as jail:
            run = in_background(jail, guest("sleep_60"))
            killed: set[int] = set()
            while len(killed) < 2:  # a run is tried once more
                fresh = [keeper for keeper in keepers() if keeper.pid not in killed and below(keeper.pid)]
                time.sleep(0.3)
                # An orphan of the last one is here for a moment too, and has no child when its jail has ended.
                for keeper in fresh[:1]:
                    if below(keeper.pid):
                        keeper.kill()
                        killed.add(keeper.pid)
            with pytest.raises(HelperLost) as caught:
                run.result(PATIENCE)
            assert isinstance(caught.value, InfrastructureError)

    def test_killed_once_is_tried_again(self, policy: Policy) -> None:
        with open_jail("cold", policy) as jail:
            run = in_background(jail, "import time; time.sleep(1.5); print('done')")
            wait_until(lambda: bool(keepers()), "a keeper")
            keepers()[0].kill()
            ended = run.result(PATIENCE)
        assert (ended.status, ended.stdout) == (Status.EXITED, b"done\n")

    def test_killed_after_a_limit_fired(self, policy: Policy) -> None:
        # A stopped keeper cannot read the wish to kill; when it dies, its end of the socket still holds that.
        with open_jail("cold", policy) as jail:
            run = in_background(jail, guest("sleep_60"), wall_s=1)
            while not run.done():  # twice: a run is tried once more
                with contextlib.suppress(IndexError, psutil.NoSuchProcess):  # none yet, or on its way out
                    keeper = keepers()[0]
                    time.sleep(0.2)
                    keeper.suspend()
                    time.sleep(1.5)
                    keeper.kill()
                    wait_until(lambda: not alive([keeper]), "it is gone")  # noqa: B023
                time.sleep(0.02)
            with pytest.raises(HelperLost):
                run.result(PATIENCE)

    def test_killed_pid_1_is_no_verdict(self, policy: Policy) -> None:
        with open_jail("cold", policy) as jail:
            run = in_background(jail, guest("sleep_60"))
            wait_until(lambda: bool(keepers() and keepers()[0].children()), "a PID 1")
            time.sleep(0.3)
            keepers()[0].children()[0].kill()
            with pytest.raises(InfrastructureError):
                run.result(PATIENCE)


def test_a_dead_zygote_is_replaced(policy: Policy) -> None:
    with open_jail("warm", policy) as jail:
        if not jail.run("print(1)").ok or not keepers():
            pytest.skip("jails are made cold here")
        dying = [process for keeper in keepers() for process in [keeper, *keeper.children(recursive=True)]]
        for keeper in keepers():
            keeper.kill()
        wait_until(lambda: not alive(dying), "zygotes and parked jails have ended")
        results = [jail.run("print(2)", limits=Limits(wall_s=PATIENCE)).stdout for _ in range(8)]
        assert results == [b"2\n"] * 8


class TestLargeAndBusyHost:
    @pytest.mark.timeout(400)
    def test_256_mib_and_8_busy_threads(self, way: str, policy: Policy) -> None:
        with host("busy", way, 50, policy, "256") as process:
            printed, _ = process.communicate(timeout=390)
        assert (printed, process.returncode) == ("50 256\n", 0)

    @pytest.mark.slow
    @pytest.mark.timeout(1200)
    def test_2_gib_and_many_runs(self, way: str, policy: Policy) -> None:
        runs = 1000 if way == "warm" else 200
        with host("busy", way, runs, policy, "2048") as process:
            printed, _ = process.communicate(timeout=1190)
        assert (printed, process.returncode) == (f"{runs} 2048\n", 0)


class TestForkedHost:
    def test_a_child_of_fork_runs_jails_of_its_own(self, module_calls: Policy) -> None:
        # Trainers fork workers (multiprocessing, data loaders) after they have imported and used all sorts of things.
        assert run_program("print(1)", policy=module_calls).ok
        children = []
        for _ in range(3):
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    code = 0 if run_program("print(2)", policy=module_calls).stdout == b"2\n" else 2
                finally:
                    os._exit(code)
            children.append(pid)
        deadline = time.monotonic() + PATIENCE
        codes = {}
        while len(codes) < len(children) and time.monotonic() < deadline:
            for pid in children:
                if pid not in codes:
                    ended, status = os.waitpid(pid, os.WNOHANG)
                    if ended:
                        codes[pid] = os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        for pid in set(children) - codes.keys():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        time.sleep(0.5)
        assert list(codes.values()) == [0, 0, 0]
        assert run_program("print(3)", policy=module_calls).ok


def test_threads_share_one_jail(way: str, policy: Policy) -> None:
    answers: list[bytes] = []
    with open_jail(way, policy) as jail:

        def ask(number: int) -> None:
            answers.append(jail.run(f"print({number})", limits=Limits(wall_s=PATIENCE)).stdout)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(answers, key=int) == [b"%d\n" % number for number in range(12)]


class TestFirstRuns:
    """A process's own folder of cgroups is made at its first run, and those of dead processes are swept then."""

    def test_of_many_threads_at_once(self, way: str, policy: Policy) -> None:
        for _ in range(3):
            with host("first", way, 8, policy) as process:
                printed, _ = process.communicate(timeout=PATIENCE)
            assert printed == "42\n" * 8

    def test_of_many_processes_at_once(self, way: str, policy: Policy) -> None:
        with contextlib.ExitStack() as stack:
            processes = [stack.enter_context(host("first", way, 2, policy)) for _ in range(6)]
            assert [process.communicate(timeout=PATIENCE)[0] for process in processes] == ["42\n42\n"] * 6


    def test_of_a_process_whose_parent_runs_jails(self, policy: Policy) -> None:
        # An ordinary user's processes share one delegated group, out of which the first of them moves all of them: the
        # next is found in a deeper group, and must not go deeper still.
        with host("first", "cold", 1, policy) as process:
            process.communicate(timeout=PATIENCE)
        ours = Path("/proc/self/cgroup").read_text()
        assert ours.count(cgroup._HOST_CHILD) <= 1
        home = probe.host().cgroup
        assert home is None or cgroup._HOST_CHILD not in home.path


def test_the_home_of_leaves_goes_with_a_normal_end(way: str, policy: Policy) -> None:
    if probe.host().cgroup is None:
        pytest.skip("no cgroups here")
    with host("first", way, 1, policy) as process:
        pid = process.pid
        process.communicate(timeout=300)
    parent = Path(probe.host().cgroup.path).parent
    assert [path.name for path in parent.iterdir() if path.name.startswith(f"jailpy-{pid}-")] == []
