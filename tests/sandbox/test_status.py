"""One row for each status, and what a guest may do on the way to it without changing it."""

from __future__ import annotations

import dataclasses
import hashlib
import signal
import sys

import pytest
from jails import PATIENCE, RunGuest, open_jail, run_guest_in

from jailpy import Jail, Limits, Policy, Result, Status
from jailpy.kernel import probe

MIB = 1 << 20


def killed(result: Result, status: Status, words: str) -> None:
    """The jail was ended by this limit: the guest gave neither exit code nor signal of its own."""
    assert result.status is status, result
    assert (result.exit_code, result.signal) == (None, None)
    assert result.describe() == words
    assert not result.ok


def exited(result: Result, code: int = 0) -> None:
    assert (result.status, result.exit_code, result.signal) == (Status.EXITED, code, None), result
    assert result.ok is (code == 0)


class TestEndings:
    def test_exit_code_0(self, run_guest: RunGuest) -> None:
        result = run_guest("exit_0")
        exited(result)
        assert (result.stdout, result.stderr, result.value_frame) == (b"done\n", b"", b"")

    def test_exit_code_3(self, run_guest: RunGuest) -> None:
        result = run_guest("exit_3")
        exited(result, 3)
        assert (result.stdout, result.stderr) == (b"out\n", b"err\n")
        assert result.describe() == "exit code 3"

    @pytest.mark.parametrize(
        ("name", "number"),
        [("segfault", signal.SIGSEGV), ("kill_self", signal.SIGKILL), ("fake_cpu_signal", signal.SIGXCPU)],
    )
    def test_a_signal_of_its_own_making(self, run_guest: RunGuest, name: str, number: signal.Signals) -> None:
        # SIGKILL and SIGXCPU too: the signals with which limits kill prove nothing by themselves.
        result = run_guest(name)
        assert (result.status, result.exit_code, result.signal) == (Status.SIGNALLED, None, number)
        assert result.describe() == f"killed by {number.name}"


class TestCpuTime:
    @pytest.mark.parametrize("name", ["spin", "ignore_signals", "spin_in_children"])
    def test_is_the_limit_and_the_overshoot_is_told(self, run_guest: RunGuest, name: str) -> None:
        result = run_guest(name, cpu_s=0.7)
        killed(result, Status.CPU_TIME, "CPU time limit")
        assert 0.7 <= result.usage.cpu_s < 30

    def test_below_the_limit_is_no_limit(self, run_guest: RunGuest) -> None:
        exited(run_guest("exit_0", cpu_s=20))


class TestWallTime:
    def test_a_sleeper(self, run_guest: RunGuest) -> None:
        result = run_guest("sleep_60", wall_s=1.5)
        killed(result, Status.WALL_TIME, "wall time limit")
        assert result.usage.wall_s >= 1.5
        assert result.usage.cpu_s < 1.5 * 4
        assert b"awake" not in result.stdout

    def test_a_guest_that_stops_itself(self, run_guest: RunGuest) -> None:
        result = run_guest("stop_self", wall_s=3)
        killed(result, Status.WALL_TIME, "wall time limit")
        assert result.stdout == b"stopping\n"


class TestMemory:
    def test_4_gib_under_256_mib(self, run_guest: RunGuest) -> None:
        result = run_guest("allocate_4_gib", memory_mb=256)
        killed(result, Status.MEMORY, "memory limit")
        assert result.stdout == b"allocating\n"
        assert result.usage.memory_peak >= 200 * MIB

    def test_below_the_limit_is_no_limit(self, run_guest: RunGuest) -> None:
        result = run_guest("allocate_150_mib", memory_mb=256)
        exited(result)
        assert 150 * MIB <= result.usage.memory_peak < 256 * MIB

    def test_all_processes_count_together(self, run_guest: RunGuest) -> None:
        killed(run_guest("allocate_in_children", memory_mb=400), Status.MEMORY, "memory limit")

    @pytest.mark.needs("memory_cgroup")
    def test_the_kernel_holds_the_limit(self, run_guest: RunGuest) -> None:
        result = run_guest("allocate_4_gib", memory_mb=256)
        assert result.usage.memory_source == "cgroup"
        assert result.usage.memory_peak <= 256 * MIB

    def test_numpy_runs_under_512_mib(self, way: str, policy: Policy) -> None:
        """With the packages of the tests' own environment, which has numpy."""
        with open_jail(way, dataclasses.replace(policy, python=sys.executable)) as jail:
            result = run_guest_in(jail)("numpy_matmul", memory_mb=512)
        exited(result)
        assert result.stdout == b"1000000000\n"


class TestOutput:
    @pytest.mark.parametrize("cap", [1, 3])
    def test_10_gib_end_at_the_cap(self, run_guest: RunGuest, cap: int) -> None:
        result = run_guest("flood_stdout", output_mb=cap)
        killed(result, Status.OUTPUT, "output limit")
        assert len(result.stdout) == cap * MIB
        assert result.stdout == (b"0123456789abcdef" * 65536 * cap)

    def test_the_cap_holds_for_both_streams_together(self, run_guest: RunGuest) -> None:
        result = run_guest("flood_stderr", output_mb=1)
        killed(result, Status.OUTPUT, "output limit")
        assert result.stdout == b"first\n"
        assert len(result.stdout) + len(result.stderr) == MIB

    def test_exactly_the_cap_is_allowed(self, jail: Jail) -> None:
        result = jail.run("import os\nos.write(1, b'x' * 65536)", limits=Limits(output_mb=1 / 16, wall_s=PATIENCE))
        exited(result)
        assert len(result.stdout) == 65536

    def test_300_kb_on_both_streams_at_once(self, run_guest: RunGuest) -> None:
        result = run_guest("both_streams")
        exited(result)
        assert result.stdout == b"o" * 300_000
        assert result.stderr == b"e" * 300_000

    def test_a_closed_stdout_ends_nothing(self, run_guest: RunGuest) -> None:
        result = run_guest("close_stdout")
        exited(result, 7)
        assert (result.stdout, result.stderr) == (b"before\n", b"after\n")

    def test_a_daemon_that_holds_stdout_delays_nothing(self, run_guest: RunGuest) -> None:
        result = run_guest("daemon_holds_stdout", wall_s=50)
        exited(result)
        assert result.stdout == b"main is done\n"

    def test_the_channel_is_no_way_around_the_cap(self, run_guest: RunGuest) -> None:
        result = run_guest("flood_channel", output_mb=1)
        exited(result)
        assert result.stdout == b"done\n"
        assert len(result.value_frame) <= 2 * MIB


class TestInput:
    big = bytes(range(256)) * 4096

    def test_1_mb_that_is_never_read(self, run_guest: RunGuest) -> None:
        result = run_guest("ignore_stdin", stdin=self.big)
        exited(result)
        assert result.stdout == b"not read\n"

    def test_1_mb_into_a_closed_stdin(self, run_guest: RunGuest) -> None:
        result = run_guest("close_stdin", stdin=self.big)
        exited(result)
        assert result.stdout == b"closed\n"

    def test_1_mb_that_is_read_slowly(self, run_guest: RunGuest) -> None:
        result = run_guest("read_stdin_slowly", stdin=self.big)
        exited(result)
        assert result.stdout == f"{len(self.big)} {hashlib.sha256(self.big).hexdigest()}\n".encode()

    def test_no_input_is_an_end_of_file(self, run_guest: RunGuest) -> None:
        assert run_guest("read_stdin_slowly").stdout == f"0 {hashlib.sha256().hexdigest()}\n".encode()


class TestProcesses:
    def test_a_fork_bomb(self, run_guest: RunGuest) -> None:
        killed(run_guest("fork_bomb", processes=32), Status.PROCESSES, "process limit")

    def test_a_thread_bomb(self, run_guest: RunGuest) -> None:
        killed(run_guest("thread_bomb", processes=32), Status.PROCESSES, "process limit")

    def test_within_the_limit(self, run_guest: RunGuest) -> None:
        result = run_guest("few_processes", processes=16)
        exited(result)
        assert result.stdout == b"0\n"

    def test_the_limit_itself_is_allowed(self, run_guest: RunGuest) -> None:
        exited(run_guest("few_processes", processes=9))

    def test_one_less_than_needed_is_not(self, run_guest: RunGuest) -> None:
        killed(run_guest("few_processes", processes=8), Status.PROCESSES, "process limit")

    def test_orphans_are_reaped(self, run_guest: RunGuest) -> None:
        result = run_guest("orphans_reaped", processes=32)
        exited(result)
        assert result.stdout == b"made 100\n"

    def test_the_guests_own_zombies_count(self, run_guest: RunGuest) -> None:
        # The control of the test above: as many children, not reaped.
        result = run_guest("zombies_kept", processes=32)
        assert not result.ok
        if "pids_cgroup" in probe.host().missing:
            assert result.status is Status.PROCESSES or b"BlockingIOError" in result.stderr
        else:
            killed(result, Status.PROCESSES, "process limit")

    @pytest.mark.timeout(400)
    def test_1000_daemons_are_gone_with_the_call(self, run_guest: RunGuest) -> None:
        # The check after each test looks for what is left of them.
        result = run_guest("daemons_1000", processes=1200, memory_mb=2048, cpu_s=300, wall_s=300)
        exited(result)
        assert result.stdout == b"1000 daemons\n"


class TestDisk:
    @pytest.mark.parametrize("name", ["fill_disk", "fill_inodes"])
    def test_full_and_dead_of_it(self, run_guest: RunGuest, name: str) -> None:
        result = run_guest(name, disk_mb=8)
        assert (result.status, result.exit_code, result.signal) == (Status.DISK, 1, None)
        assert b"No space left on device" in result.stderr
        assert result.describe() == "disk limit"

    def test_recovered_from(self, run_guest: RunGuest) -> None:
        result = run_guest("fill_disk_and_recover", disk_mb=8)
        exited(result)
        assert result.stdout == b"28\n"


def test_every_layer_is_in_the_result(run_guest: RunGuest, policy: Policy) -> None:
    enforced = run_guest("exit_0").enforced
    missing = probe.host().missing
    assert {layer for layer, how in enforced.items() if how != "on"} == set(missing)
    assert policy.allow_degraded <= missing.keys()


