"""How far past its limit a program gets, and how soon the place of a fork bomb can be used again.

    CPU limit    a busy loop: CPU time used beyond cpu_s
    CPU, 2 busy  two busy processes: the same
    wall limit   a sleeper: wall time beyond wall_s
    bomb, empty  a fork bomb: from the kill to the jail's end as the library saw it (nobody is left)
    bomb, slot   the same to the moment when its slot is back on the shelf, looked at and free for another jail
    bomb, next   from the end of the bomb's run to the end of the next run of another program

Milliseconds, one run at a time. The promise: p99 of the limits at most 10 on an unloaded machine, of the bomb's slot at
most 50.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from unittest import mock

from benchmarks import common
from jailpy import Jail, Limits, Status, pool, warm

_CPU = Limits(cpu_s=0.1, wall_s=5.0)
_WALL = Limits(cpu_s=5.0, wall_s=0.1)
_BOMB = Limits(cpu_s=5.0, wall_s=0.25, processes=64)
_BUSY = "while True: pass"
_TWO = "import os\nos.fork()\nwhile True: pass"
_SLEEP = "import time\ntime.sleep(60)"
_FORKS = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n"


def past_limit(jail: Jail, code: str, limits: Limits, status: Status) -> float:
    """Milliseconds beyond the limit."""
    result = jail.run(code, limits=limits)
    if result.status is not status:
        raise SystemExit(f"{code!r} ended otherwise than it must: {result.describe()}")
    over = result.usage.cpu_s - limits.cpu_s if status is Status.CPU_TIME else result.usage.wall_s - limits.wall_s
    return over * 1e3


class Bombs:
    """Fork bombs, with the moments of kill and return of each slot noted inside the library."""

    def __init__(self, jail: Jail) -> None:
        self.jail = jail
        self.killed: dict[int, float] = {}
        self.back: dict[int, float] = {}

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        kill, take_back, discard = warm.WarmJail.kill, pool._Line._take_back, warm.WarmJail.discard

        def noted_kill(jail: warm.WarmJail) -> None:
            self.killed.setdefault(id(jail.slot), time.monotonic())
            kill(jail)

        def noted_take_back(line: pool._Line, slot: warm.Slot) -> None:
            take_back(line, slot)
            self.back[id(slot)] = time.monotonic()

        def noted_discard(jail: warm.WarmJail) -> None:
            self.killed.setdefault(id(jail.slot), time.monotonic())
            discard(jail)

        with (
            mock.patch.object(warm.WarmJail, "kill", noted_kill),
            mock.patch.object(warm.WarmJail, "discard", noted_discard),
            mock.patch.object(pool._Line, "_take_back", noted_take_back),
        ):
            yield

    def one(self) -> tuple[float, float, float]:
        """Milliseconds: to empty, to the slot's return, to the end of the next run."""
        common.settle(self.jail)
        self.killed.clear()
        self.back.clear()
        with self.noting():
            self.jail.run(_FORKS, limits=_BOMB)
            ended = time.monotonic()
            if not self.killed:
                raise SystemExit("the fork bomb ended without being killed")
            slot, killed = next(iter(self.killed.items()))
            result = self.jail.run(common.PROGRAM)
            following = time.monotonic()
            if not result.ok or not common.wait_for(lambda: slot in self.back, 20):
                raise SystemExit(f"after a fork bomb: {result.describe()}, slot back: {slot in self.back}")
        return (ended - killed) * 1e3, (self.back[slot] - killed) * 1e3, (following - ended) * 1e3


def measure(count: int) -> dict[str, dict[str, float]]:
    """All figures, kinds in turns."""
    kinds: dict[str, Callable[[Jail], float]] = {
        "CPU limit": lambda jail: past_limit(jail, _BUSY, _CPU, Status.CPU_TIME),
        "CPU, 2 busy": lambda jail: past_limit(jail, _TWO, _CPU, Status.CPU_TIME),
        "wall limit": lambda jail: past_limit(jail, _SLEEP, _WALL, Status.WALL_TIME),
    }
    seen: dict[str, list[float]] = {name: [] for name in (*kinds, "bomb, empty", "bomb, slot", "bomb, next")}
    with Jail() as jail:
        bombs = Bombs(jail)
        jail.run(common.PROGRAM)
        for done in range(count):
            common.progress(f"{done + 1} of {count}")
            for name, kind in kinds.items():
                common.settle(jail)
                seen[name].append(kind(jail))
            for name, value in zip(("bomb, empty", "bomb, slot", "bomb, next"), bombs.one(), strict=True):
                seen[name].append(value)
        common.progress("")
    return {name: common.spread(values) for name, values in seen.items()}


def main() -> None:
    """One table."""
    arguments = common.parser(__doc__).parse_args()
    common.print_machine()
    figures = measure(25 if arguments.quick else 300)
    rows = [
        (name, str(each["n"]), *(common.number(each[key], 1) for key in ("p50", "p90", "p99", "max")))
        for name, each in figures.items()
    ]
    common.table(("milliseconds", "runs", "p50", "p90", "p99", "max"), rows)
    print("promised: CPU and wall limit p99 at most 10, bomb, slot at most 50")
    common.write_json(arguments.json, {"overshoot_ms": figures})


if __name__ == "__main__":
    main()
