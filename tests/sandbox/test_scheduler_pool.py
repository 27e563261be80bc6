"""Many runs through one jail: order, cancelling, and zygotes, jails and slots that come and go underneath."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from jails import PATIENCE, WORKERS
from waiting import wait_until

from jailpy import Jail, Limits, Policy, Status, UsageError, Verdict, pool
from jailpy.kernel import probe

ECHO = "print(input())"
LIMITS = Limits(cpu_s=PATIENCE, wall_s=PATIENCE)


def echo(number: int) -> list[dict[str, str]]:
    return [{"input": f"{number}\n", "expected_output": f"{number}\n"}]


@pytest.fixture
def warm(policy: Policy) -> Iterator[Jail]:
    """A warm jail of the test's own, so that all of it is gone after the test."""
    with Jail(policy, LIMITS, workers=WORKERS) as jail:
        yield jail


def alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def keepers(jail: Jail) -> list[int]:
    return [line.zygote.helper.pid for some in jail._pools.values() for line in some.lines if line.zygote is not None]


def zygotes(jail: Jail) -> list[psutil.Process]:
    """The interpreters that fork: of all that look like one below a keeper, the one that was there first."""
    found = []
    for keeper in keepers(jail):
        with contextlib.suppress(psutil.Error, ValueError):
            below = psutil.Process(keeper).children(recursive=True)
            alike = [process for process in below if "zygote.py" in " ".join(process.cmdline())]
            found.append(min(alike, key=lambda process: (process.create_time(), process.pid)))
    return found


def leaves() -> list[Path]:
    """All slots' groups on this host's part of the tree."""
    home = probe.host().cgroup
    return [path for path in Path(home.path).rglob("slot-*") if path.is_dir()] if home else []


class TestMany:
    def test_500_programs(self, warm: Jail) -> None:
        jobs = [{"code": ECHO, "tests": echo(n), "id": n} for n in range(500)]
        grades = list(warm.grade_many(jobs))
        assert sorted(grade.id for grade in grades) == list(range(500))
        assert {grade.reward for grade in grades} == {1.0}

    def test_in_order(self, warm: Jail) -> None:
        jobs = [{"code": ECHO, "tests": echo(n), "id": n} for n in range(40)]
        assert [grade.id for grade in warm.grade_many(jobs, ordered=True)] == list(range(40))

    def test_an_endless_iterable_is_taken_as_there_is_room(self, warm: Jail) -> None:
        taken = 0

        def endless() -> Iterator[dict[str, object]]:
            nonlocal taken
            while True:
                taken += 1
                yield {"code": ECHO, "tests": echo(taken), "id": taken}

        grades = warm.grade_many(endless())
        first = [next(grades) for _ in range(10)]
        assert all(grade.reward == 1.0 for grade in first)
        assert taken <= 10 + 4 * WORKERS
        grades.close()  # type: ignore[attr-defined]  # a generator
        wait_until(lambda: warm.statistics()["running"] == 0, "nothing runs")
        assert warm.statistics()["waiting"] == 0

    def test_of_many_threads(self, warm: Jail) -> None:
        def one(number: int) -> float | None:
            return warm.grade(ECHO, echo(number)).reward

        with ThreadPoolExecutor(16) as threads:
            assert set(threads.map(one, range(160))) == {1.0}
        assert warm.statistics()["running"] == 0

    def test_many_tests_of_one_program(self, warm: Jail) -> None:
        grade = warm.grade(ECHO, [test for n in range(100) for test in echo(n)])
        assert (grade.verdict, len(grade.outcomes)) == (Verdict.PASSED, 100)


class TestCancelling:
    def test_queued_grades_never_start(self, warm: Jail) -> None:
        slow = "import time\nopen('/dev/null')\ntime.sleep(0.5)\nprint(input())"
        running = [warm.submit(slow, echo(n)) for n in range(WORKERS)]
        wait_until(lambda: warm.statistics()["running"] == WORKERS, "all workers run")
        queued = [warm.submit(ECHO, echo(n)) for n in range(50)]
        assert all(future.cancel() for future in queued)
        assert [future.result(PATIENCE).reward for future in running] == [1.0] * WORKERS
        concurrent.futures.wait(queued, PATIENCE)
        assert all(future.cancelled() for future in queued)
        wait_until(lambda: warm.statistics()["waiting"] == 0, "nothing waits")
        assert warm.grade(ECHO, echo(3)).reward == 1.0

    def test_a_grade_that_is_dropped_does_not_harm_the_next(self, warm: Jail) -> None:
        tests = [{"input": "1\n", "expected_output": "1\n"}] * 20
        for _ in range(5):
            warm.submit(ECHO, tests).cancel()
        assert warm.grade(ECHO, tests).verdict is Verdict.PASSED


class TestStopEarly:
    def test_the_rest_is_skipped(self, warm: Jail) -> None:
        tests = [*echo(1), {"input": "2\n", "expected_output": "3\n"}, *echo(3), *echo(4)]
        grade = warm.grade(ECHO, tests, stop_early=True)
        verdicts = [outcome.verdict for outcome in grade.outcomes]
        assert verdicts[:2] == [Verdict.PASSED, Verdict.WRONG_ANSWER]
        assert verdicts[2:] == [Verdict.SKIPPED] * 2
        assert grade.verdict is Verdict.WRONG_ANSWER
        full = warm.grade(ECHO, tests)
        assert [outcome.verdict for outcome in full.outcomes].count(Verdict.PASSED) == 3

    def test_all_pass(self, warm: Jail) -> None:
        grade = warm.grade(ECHO, [test for n in range(10) for test in echo(n)], stop_early=True)
        assert grade.verdict is Verdict.PASSED


class TestZygotes:
    @pytest.mark.usefixtures("reaped_orphans")
    def test_a_keeper_killed_in_mid_run_costs_nothing(self, warm: Jail) -> None:
        assert warm.grade(ECHO, echo(1)).reward == 1.0
        future = warm.submit("import time\ntime.sleep(1)\nprint(input())", echo(7))
        the_pool = next(iter(warm._pools.values()))
        wait_until(lambda: (the_pool.running, the_pool.coming, the_pool.wants_more()) == (1, 0, False), "one jail runs")
        # Not the other one: a run is tried again once, and there it would meet the same end.
        with the_pool.changed:
            parked = Counter(id(line) for line, _ in the_pool.parked)
            at_work = [line for line in the_pool.lines if line.out > parked[id(line)] + len(line.used)]
        assert len(at_work) == 1
        assert at_work[0].zygote is not None
        os.kill(at_work[0].zygote.helper.pid, signal.SIGKILL)
        assert future.result(PATIENCE).reward == 1.0
        assert [warm.grade(ECHO, echo(n)).reward for n in range(20)] == [1.0] * 20

    @pytest.mark.usefixtures("reaped_orphans")
    def test_a_zygote_killed_while_idle_is_replaced(self, warm: Jail) -> None:
        assert warm.grade(ECHO, echo(1)).reward == 1.0
        wait_until(lambda: warm.statistics()["parked"] >= WORKERS, "jails are parked")
        victim = zygotes(warm)[0]
        victim.kill()
        wait_until(lambda: not alive(victim), "it is gone")
        assert [warm.grade(ECHO, echo(n)).reward for n in range(20)] == [1.0] * 20
        assert victim.pid not in {process.pid for process in zygotes(warm)}

    def test_are_replaced_after_so_many_jails(self, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pool, "JAILS_PER_ZYGOTE", 20)
        seen: set[int] = set()
        with Jail(policy, LIMITS, workers=WORKERS) as jail:
            for n in range(120):
                assert jail.grade(ECHO, echo(n)).reward == 1.0
                if n % 5 == 0:
                    seen |= {process.pid for process in zygotes(jail)}
        assert len(seen) >= 4

    def test_slots_are_used_again(self, warm: Jail) -> None:
        most = 0
        for n in range(100):
            assert warm.grade(ECHO, echo(n)).reward == 1.0
            most = max(most, len(leaves()))
        the_pool = next(iter(warm._pools.values()))
        bound = the_pool.target + len(the_pool.lines) * 5
        assert most <= bound
        assert sum(line.slots_made for line in the_pool.lines) <= bound

    def test_slots_survive_guests_that_misbehave(self, warm: Jail) -> None:
        programs = [
            "import os\nwhile os.fork(): pass\nwhile True: pass",
            "import subprocess\nsubprocess.Popen(['sleep', '100'])\nprint('x')",
            "x = bytearray(2 << 30)\nx[::4096] = b'x' * len(x[::4096])",
            "import os, signal\nos.kill(-1, signal.SIGKILL)",
            "open('x', 'wb').write(b'x' * (3 << 20))",
        ]
        tight = Limits(cpu_s=1, wall_s=3, memory_mb=200, processes=20, disk_mb=64)
        for code in programs * 2:
            warm.run(code, limits=tight)
            assert warm.grade(ECHO, echo(5)).reward == 1.0
        the_pool = next(iter(warm._pools.values()))
        assert len(leaves()) <= the_pool.target + len(the_pool.lines) * 5


class TestSizes:
    def test_each_size_of_disk_is_kept(self, policy: Policy) -> None:
        code = "open('x', 'wb').write(b'x' * (6 << 20))"
        with Jail(policy, workers=1) as jail:
            for size in (64, 4, 16, 5, 32, 3, 64, 4):
                result = jail.run(code, limits=Limits(disk_mb=size, cpu_s=PATIENCE, wall_s=PATIENCE))
                assert result.ok is (size > 6), (size, result)
                assert size > 6 or result.status is Status.DISK, (size, result)
            assert len(jail._pools) <= 4


class TestClose:
    def test_ends_everything(self, policy: Policy) -> None:
        # What is left is looked for after each test (conftest.py); here that closing is quick and final.
        jail = Jail(policy, workers=WORKERS)
        assert jail.grade(ECHO, echo(1)).reward == 1.0
        jail.close()
        jail.close()
        assert not psutil.Process().children()
        with pytest.raises(RuntimeError, match="closed"):
            jail.grade(ECHO, echo(1))

    def test_waits_for_what_runs(self, policy: Policy) -> None:
        jail = Jail(policy, LIMITS, workers=WORKERS)
        got: list[object] = []
        caller = threading.Thread(target=lambda: got.append(jail.run("import time; time.sleep(1); print('done')")))
        caller.start()
        wait_until(lambda: any(some.running for some in jail._pools.values()), "a jail runs")
        jail.close()
        caller.join(PATIENCE)
        assert len(got) == 1
        assert got[0].stdout == b"done\n"  # type: ignore[attr-defined]  # a Result

    def test_an_unused_jail(self, policy: Policy) -> None:
        Jail(policy).close()

    def test_a_forgotten_jail(self, policy: Policy) -> None:
        jail = Jail(policy, workers=1)
        assert jail.run("print(1)").ok
        del jail  # what it leaves is looked for after the test


class TestBatches:
    def test_a_wrong_job_is_named_and_ends_the_batch_cleanly(self, warm: Jail) -> None:
        jobs = [{"code": ECHO, "tests": echo(n), "id": n} for n in range(20)]
        jobs.append({"code": ECHO, "tests": []})
        with pytest.raises(UsageError):
            list(warm.grade_many(jobs))
        wait_until(lambda: warm.statistics()["running"] == 0, "nothing runs")
        assert warm.grade(ECHO, echo(1)).reward == 1.0


_FORK = """
import os, sys, warnings
warnings.simplefilter("ignore")
from jailpy import Jail, Policy
policy = Policy(allow_degraded=frozenset(sys.argv[1:]))
tests = [{"input": "1", "expected_output": "1"}]
jail = Jail(policy, workers=1)
print(jail.grade("print(input())", tests).reward, flush=True)
if os.fork() == 0:
    try:
        jail.grade("print(input())", tests)
    except RuntimeError as error:
        print("child:", error, flush=True)
    with Jail(policy, workers=1) as own:
        print("child:", own.grade("print(input())", tests).reward, flush=True)
    jail.close()
    os._exit(0)
print("child ended with", os.wait()[1], flush=True)
print(jail.grade("print(input())", tests).reward, flush=True)
jail.close()
"""


def test_a_forked_host(policy: Policy) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FORK, *policy.allow_degraded],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "1.0", done
    assert lines[1].startswith("child: this Jail was made before a fork"), done
    assert lines[2:] == ["child: 1.0", "child ended with 0", "1.0"], done
