"""How long one trivial program takes, from the call to its result: jailpy beside everything else, in one process.

All contenders take turns, a few runs each, so that a noisy machine is as noisy for one as for the other: read the ratio
columns. Times of another run, or of another machine, do not compare.

    floor, fork      a small C program forks, the child writes and ends
    floor, jail      a small C program makes namespaces, mounts, PID 1 and guest (floor.c): no filter, no interpreter
    fork, paced      os.fork of the same interpreter with the same modules: the child runs the compiled program, the
                     parent reads what it prints and waits for it; then a pause
    fork, in a row   the same without a pause
    warm, paced      Jail.run, then a pause in which the next jail is parked
    warm, in a row   Jail.run again and again: what parks competes with what runs
    cold             Jail(warm=False).run: everything is made while the caller waits
    the others       `python -I -S -c print(1)` through each tool

CPU is that of all processes that had a part, kernel included, a run; for warm jails with the parking of the next one.
`x fork` divides the medians, `p99 x fork` the 99th percentiles, both by the paced fork's. Stages are printed below.
"""

from __future__ import annotations

import contextlib
import functools
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import common, memory, plot
from benchmarks.common import PROGRAM, Cpu
from benchmarks.peers import Peer, Worker, fork_worker, peers
from jailpy import Jail
from jailpy.status import Result

PAUSE = 0.008
Stages = dict[str, float]


@dataclass(slots=True)
class Contender:
    """`block(n)` does n runs; seconds each, CPU seconds of all, and the stages of each where it has any."""

    name: str
    block: Callable[[int], tuple[list[float], float, list[Stages]]]
    runs: int
    times: list[float] = field(default_factory=list)
    cpu: float = 0.0
    stages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def turn(self) -> None:
        times, cpu, stages = self.block(self.runs)
        self.times += times
        self.cpu += cpu
        for each in stages:
            for name, seconds in each.items():
                self.stages[name].append(seconds)

    def figures(self) -> dict[str, Any]:
        milliseconds = [seconds * 1e3 for seconds in self.times]
        return {
            **common.spread(milliseconds),
            "runs_per_s": len(self.times) / sum(self.times),
            "cpu_ms": self.cpu * 1e3 / len(self.times),
            "stages_ms": {name: statistics.median(each) * 1e3 for name, each in self.stages.items()},
        }


class Floor:
    """floor.c, compiled into a temporary folder and kept running."""

    def __init__(self, scratch: Path) -> None:
        binary = scratch / "floor"
        subprocess.run(["cc", "-O2", "-o", str(binary), str(Path(__file__).parent / "floor.c")], check=True)
        self.process = subprocess.Popen([str(binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def block(self, what: str, count: int) -> tuple[list[float], float, list[Stages]]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{what} {count}\n")
        self.process.stdin.flush()
        rows = [[int(word) / 1e9 for word in self.process.stdout.readline().split()] for _ in range(count)]
        names = ("clone", "mounts", "guest", "end")
        return [row[0] for row in rows], float("nan"), [dict(zip(names, row[1:], strict=False)) for row in rows]

    def close(self) -> None:
        self.process.communicate()


def worked(worker: Worker, pause: float, count: int) -> tuple[list[float], float, list[Stages]]:
    """Runs in another process."""
    worker.begin(count, pause)
    answer = worker.end()
    return answer["times"], answer["cpu"], []


def jailed(jail: Jail, pause: float, count: int) -> tuple[list[float], float, list[Stages]]:
    """Runs through jailpy. What the caller waits for beside the stages of the result is "around": taking a parked jail,
    or making the call's objects, and giving up the jail."""
    times, stages = [], []
    if jail.warm:  # all are parked when the block begins, and again when it ends: their CPU belongs to this block
        common.settle(jail)
    before = Cpu.now()
    for _ in range(count):
        begun = time.perf_counter()
        result = jail.run(PROGRAM)
        spent = time.perf_counter() - begun
        times.append(spent)
        stages.append(_stages(result, spent))
        if pause:
            time.sleep(pause)
    if jail.warm:
        common.settle(jail)
    used = Cpu.now().since(before)
    return times, used.warm if jail.warm else used.spawned, stages


def _stages(result: Result, spent: float) -> Stages:
    if not result.ok or result.stdout != b"1\n":
        raise SystemExit(f"a run went wrong: {result}")
    stages = {**result.usage.stages, "guest": result.usage.wall_s}
    return {**stages, "around": spent - sum(stages.values()), "(guest CPU)": result.usage.cpu_s}


def called(run: Callable[[], bytes], count: int) -> tuple[list[float], float, list[Stages]]:
    """Runs through a library in this process."""
    times = []
    before = Cpu.now()
    for _ in range(count):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return times, Cpu.now().since(before).spawned, []


def contender_of(peer: Peer, stack: contextlib.ExitStack) -> Contender | str:
    """A peer that works here, or why it does not."""
    if peer.missing:
        return f"not installed ({peer.missing})"
    if peer.run is not None:
        try:
            peer.run()
        except (OSError, RuntimeError) as error:
            return f"does not work here: {error!s:.90}"
        return Contender(peer.name, functools.partial(called, peer.run), 2)
    worker = Worker({"spawn": list(peer.argv)})
    stack.callback(worker.close)
    worker.begin(1)
    if "error" in (answer := worker.end()):
        return f"does not work here: {answer['error']:.90}"
    return Contender(peer.name, functools.partial(worked, worker, 0.0), 2)


def measure(rounds: int) -> tuple[list[Contender], dict[str, str]]:
    """Every contender's runs, and why some have none."""
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        warm, cold = stack.enter_context(Jail()), stack.enter_context(Jail(warm=False))
        warm.run(PROGRAM)
        floor, fork = Floor(scratch), fork_worker()
        stack.callback(floor.close)
        stack.callback(fork.close)
        contenders = [
            Contender("floor, fork", functools.partial(floor.block, "f"), 5),
            Contender("floor, jail", functools.partial(floor.block, "j"), 5),
            Contender("fork, paced", functools.partial(worked, fork, PAUSE), 10),
            Contender("warm, paced", functools.partial(jailed, warm, PAUSE), 10),
            Contender("fork, in a row", functools.partial(worked, fork, 0.0), 10),
            Contender("warm, in a row", functools.partial(jailed, warm, 0.0), 10),
            Contender("cold", functools.partial(jailed, cold, 0.0), 2),
        ]
        absent = {}
        for peer in peers(scratch):
            found = contender_of(peer, stack)
            if isinstance(found, str):
                absent[peer.name] = found
            else:
                contenders.append(found)
        for contender in contenders:  # first runs make caches, zygotes and bytecode files
            contender.block(5)
        for done in range(rounds):
            common.progress(f"round {done + 1} of {rounds}")
            for contender in contenders:
                contender.turn()
        common.progress("")
    return contenders, absent


def show(figures: dict[str, dict[str, Any]], absent: dict[str, str]) -> None:
    fork = figures["fork, paced"]
    header = ("milliseconds", "runs", "p50", "p90", "p99", "runs/s", "CPU/run", "x fork", "p99 x fork")
    rows = [
        (
            name,
            str(each["n"]),
            *(common.number(each[key]) for key in ("p50", "p90", "p99")),
            common.number(each["runs_per_s"], 0),
            common.number(each["cpu_ms"]),
            common.number(each["p50"] / fork["p50"]),
            common.number(each["p99"] / fork["p99"]),
        )
        for name, each in figures.items()
    ]
    common.table(header, rows)
    for name, reason in absent.items():
        print(f"{name}: {reason}")
    print("\nmedian of each stage, milliseconds")
    for name, each in figures.items():
        if each["stages_ms"]:
            print(f"  {name}: " + ", ".join(f"{stage} {value:.2f}" for stage, value in each["stages_ms"].items()))
    print()


def targets(figures: dict[str, dict[str, Any]]) -> dict[str, float]:
    """The ratios that the project promises, beside what was measured."""
    fork, warm = figures["fork, paced"], figures["warm, paced"]
    in_a_row = figures["warm, in a row"]["p50"] / figures["fork, in a row"]["p50"]
    found = [
        ("warm p50 / fork p50, paced", warm["p50"] / fork["p50"], "at most 0.75"),
        ("warm p99 / fork p99, paced", warm["p99"] / fork["p99"], "at most 4"),
        ("warm p50 / fork p50, in a row", in_a_row, "no promise"),
    ]
    if "bubblewrap" in figures:
        found.append(("bubblewrap p50 / warm p50", figures["bubblewrap"]["p50"] / warm["p50"], "at least 20"))
    for name, ratio, promise in found:
        print(f"{name}: {ratio:.2f} ({promise})")
    return {name: ratio for name, ratio, _ in found}


def main() -> None:
    """One table, one list of ratios, and a picture if asked for."""
    parser = common.parser(__doc__)
    parser.add_argument("--svg", metavar="OUT", help="draw p50 and p99 of all contenders")
    arguments = parser.parse_args()
    common.print_machine()
    contenders, absent = measure(15 if arguments.quick else 150)
    figures = {contender.name: contender.figures() for contender in contenders}
    show(figures, absent)
    ratios = targets(figures)
    parked_kib = memory.parked_kib()
    print(f"memory of a parked jail beyond its zygote: {parked_kib:.0f} KiB (at most 2048)")
    everything = {"latency_ms": figures, "absent": absent, "ratios": ratios, "parked_kib": parked_kib}
    common.write_json(arguments.json, everything)
    if arguments.svg:
        bars = [(name, each["p50"], each["p99"]) for name, each in figures.items()]
        Path(arguments.svg).write_text(plot.bars("Milliseconds a run: p50, line to p99", bars), encoding="utf-8")


if __name__ == "__main__":
    main()
