"""Calls, cancels, kills and greedy guests in any order on one warm jail: each program gets the reward that it earned, and
when the jail is closed, nothing is left.

    python -m fuzz.pool --runs 100 --seed 1"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import os
import secrets
import time
import warnings
from concurrent.futures import Future

import psutil
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import NonInteractiveExampleWarning
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule, run_state_machine_as_test

from fuzz.count import Count
from fuzz.guests import HANG_SECONDS, Broken, nothing_left, own_host
from jailpy import Grade, Jail, Limits, Policy

WORKERS = 2
_PATIENT = Limits(cpu_s=HANG_SECONDS, wall_s=HANG_SECONDS, memory_mb=200)
_TESTS = [{"input": "7\n", "expected_output": "7\n"}]

#: Programs, their limits, and the reward that each has earned.
PROGRAMS: dict[str, tuple[str, Limits, float]] = {
    "right": ("print(input())", _PATIENT, 1.0),
    "right, after a while": ("import time\ntime.sleep(0.3)\nprint(input())", _PATIENT, 1.0),
    "right, with a daemon left": (
        "import os\nif os.fork(): print(input())\nelse: os.setsid(); import time; time.sleep(99)",
        _PATIENT,
        1.0,
    ),
    "wrong": ("print(8)", _PATIENT, 0.0),
    "spins": ("while True: pass", Limits(cpu_s=0.2, wall_s=60), -1.0),
    "sleeps": ("import time\ntime.sleep(99)", Limits(cpu_s=60, wall_s=0.3), -1.0),
    "forks": ("import os, time\nwhile True: os.fork()", Limits(processes=4, cpu_s=60, wall_s=60), -2.0),
    "fills the disk": ("open('x', 'wb').write(bytes(99 << 20))", Limits(disk_mb=64, cpu_s=60, wall_s=60), -2.0),
    "takes memory": ("x = b'x' * (400 << 20)\nimport time\ntime.sleep(9)", Limits(memory_mb=64, cpu_s=60, wall_s=60), -2.0),
    "floods": ("while True: print('x' * 9999)", Limits(output_mb=1, cpu_s=60, wall_s=60), -2.0),
    "dies": ("import os\nos.abort()", _PATIENT, -2.0),
    "kills everybody": ("import os\nos.kill(-1, 9)\nprint(7)", _PATIENT, 1.0),
}


class PoolMachine(RuleBasedStateMachine):
    """One warm jail through its life."""

    policy = Policy()
    submitted = Bundle("submitted")

    def __init__(self) -> None:
        super().__init__()
        self.around = contextlib.ExitStack()
        self.around.enter_context(nothing_left())
        self.jail = Jail(self.policy, workers=WORKERS)
        self.earned: dict[Future[Grade], float] = {}
        self.closed = False

    @rule(target=submitted, name=st.sampled_from(sorted(PROGRAMS)), count=st.sampled_from([1, 1, 3]))
    def submit(self, name: str, count: int) -> object:
        """One or some more of a program."""
        code, limits, reward = PROGRAMS[name]
        futures = [self.jail.submit(code, _TESTS, limits=limits) for _ in range(count)]
        self.earned.update(dict.fromkeys(futures, reward))
        return multiple(*futures)

    @rule(future=submitted)
    def cancel(self, future: Future[Grade]) -> None:
        """Too late or in time: both are fine."""
        future.cancel()

    @rule(future=submitted)
    def wait(self, future: Future[Grade]) -> None:
        """The reward is the one that was earned."""
        self._check(future)

    @rule(seconds=st.sampled_from([0.0, 0.01, 0.1, 0.5]))
    def pass_time(self, seconds: float) -> None:
        """Runs go on meanwhile."""
        time.sleep(seconds)

    @rule(at=st.integers(0, 9))
    def kill_keeper(self, at: int) -> None:
        """A zygote's jailpy-init, and with it all that it holds."""
        if found := self._keepers():
            _kill(found[at % len(found)])

    @rule(at=st.integers(0, 9))
    def kill_zygote(self, at: int) -> None:
        """A zygote alone."""
        if found := self._zygotes():
            _kill(found[at % len(found)])

    @rule(at=st.integers(0, 9), seconds=st.sampled_from([0.01, 0.3]))
    def stop_zygote(self, at: int, seconds: float) -> None:
        """For a while."""
        if found := self._zygotes():
            process = found[at % len(found)]
            with contextlib.suppress(psutil.NoSuchProcess):
                process.suspend()
                time.sleep(seconds)
                process.resume()

    @invariant()
    def counts_are_possible(self) -> None:
        """No more runs than workers."""
        counts = self.jail.statistics()
        if not (0 <= counts["running"] <= WORKERS and counts["waiting"] >= 0 and counts["promised_bytes"] >= 0):
            raise Broken(f"statistics: {counts}")

    def teardown(self) -> None:
        """Everything that was submitted comes to its end, and the jail to its."""
        try:
            for future in self.earned:
                self._check(future)
            after = self.jail.run("print(6 * 7)", limits=_PATIENT)
            if after.stdout != b"42\n":
                raise Broken(f"the next run is not as usual: {after}")
        finally:
            self.jail.close()
            with contextlib.suppress(ChildProcessError):  # orphans of killed keepers come to this process
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        self.around.close()

    def _check(self, future: Future[Grade]) -> None:
        with contextlib.suppress(concurrent.futures.CancelledError):
            reward = future.result(HANG_SECONDS).reward
            if reward != self.earned[future]:
                raise Broken(f"reward {reward} where {self.earned[future]} was earned")

    def _keepers(self) -> list[psutil.Process]:
        found = []
        for some in self.jail._pools.values():
            for line in some.lines:
                zygote = line.zygote
                if zygote is not None:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        found.append(psutil.Process(zygote.helper.pid))
        return found

    def _zygotes(self) -> list[psutil.Process]:
        """The first interpreter below each keeper: the others are its jails'."""
        found = []
        for keeper in self._keepers():
            with contextlib.suppress(psutil.Error, ValueError):
                alike = [each for each in keeper.children(recursive=True) if "zygote.py" in " ".join(each.cmdline())]
                found.append(min(alike, key=lambda each: (each.create_time(), each.pid)))
        return found


def _kill(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.kill()


def fuzz(policy: Policy, runs: int, number: int, progress: Count | None = None, steps: int = 20) -> None:
    """So many lives of a jail. Broken where one breaks an invariant; Hypothesis prints its steps."""

    class Machine(PoolMachine):
        pass

    Machine.policy = policy
    if progress:

        def counted(self: PoolMachine) -> None:
            PoolMachine.teardown(self)
            progress.step()

        Machine.teardown = counted  # type: ignore[method-assign]
    seed(number)(Machine)
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=runs,
            stateful_step_count=steps,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.pool", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="lives of a jail (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32), help="default: a new one, which is printed")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", NonInteractiveExampleWarning)
    print(f"seed {arguments.seed}", flush=True)
    own_host()
    progress = Count(arguments.runs, "lives of a jail")
    fuzz(Policy.from_environment(), arguments.runs, arguments.seed, progress)
    print(f"{progress.done} lives of a jail, of seed {arguments.seed}: nothing broke")


if __name__ == "__main__":
    main()
