"""Runs a second on all CPUs, and CPU time a run: jailpy beside bare forks and spawned tools, in chunks that take turns.

    jailpy           Jail.submit of `print(1)` with one stdio test, all at once, as many workers as CPUs
    fork, 1 process  a bare fork loop of the same interpreter in one process: the child runs the compiled program
    fork, 1 a CPU    one such loop a CPU
    bwrap, subprocess  `python -I -S -c print(1)` through bubblewrap, or plain: one loop a CPU

Read the ratios. The CPU of jailpy's runs is split: the library's process in user and in system mode, the zygotes with
the makers of jails, and the jails themselves (the guest, its set-up and its end).
"""

from __future__ import annotations

import contextlib
import functools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks import common
from benchmarks.common import PROGRAM, Cpu
from benchmarks.peers import PYTHON, Worker, bwrap_argv, fork_worker
from jailpy import Jail
from jailpy.verdict import Verdict

_TESTS = [{"input": "", "expected_output": "1"}]


@dataclass(slots=True)
class Contender:
    """`chunk(n)` does n runs: seconds in all, and CPU seconds by part."""

    name: str
    chunk: Callable[[int], tuple[float, dict[str, float]]]
    runs: int
    rates: list[float] = field(default_factory=list)
    cpu: dict[str, float] = field(default_factory=dict)

    def turn(self) -> None:
        seconds, cpu = self.chunk(self.runs)
        self.rates.append(self.runs / seconds)
        for part, used in cpu.items():
            self.cpu[part] = self.cpu.get(part, 0.0) + used

    def figures(self) -> dict[str, Any]:
        runs = self.runs * len(self.rates)
        parts = {part: used * 1e3 / runs for part, used in self.cpu.items()}
        return {
            "runs": runs,
            "runs_per_s": statistics.median(self.rates),
            "slowest": min(self.rates),
            "cpu_ms": sum(parts.values()),
            "cpu_parts_ms": parts,
        }


def jailed(jail: Jail, count: int) -> tuple[float, dict[str, float]]:
    """A queue of runs, all handed in at once."""
    before, begun = Cpu.now(), time.perf_counter()
    futures = [jail.submit(PROGRAM, _TESTS) for _ in range(count)]
    grades = [future.result() for future in futures]
    seconds = time.perf_counter() - begun
    used = Cpu.now().since(before)
    if wrong := [grade for grade in grades if grade.verdict is not Verdict.PASSED]:
        raise SystemExit(f"{len(wrong)} of {count} runs were misjudged, first: {wrong[0]}")
    return seconds, {
        "library user": used.user,
        "library system": used.system,
        "zygotes": used.zygotes,
        "jails": used.jails,
    }


def worked(workers: list[Worker], count: int) -> tuple[float, dict[str, float]]:
    """The runs divided among worker processes."""
    begun = time.perf_counter()
    for worker in workers:
        worker.begin(count // len(workers))
    answers = [worker.end() for worker in workers]
    seconds = time.perf_counter() - begun
    for answer in answers:
        if "error" in answer:
            raise SystemExit(f"a run went wrong: {answer['error']}")
    return seconds, {"all": sum(answer["cpu"] for answer in answers)}


def measure(rounds: int, chunk: int) -> list[Contender]:
    """All contenders' chunks, in turns."""
    with contextlib.ExitStack() as stack:

        def workers(make: Callable[[], Worker], count: int) -> list[Worker]:
            made = [make() for _ in range(count)]
            for worker in made:
                stack.callback(worker.close)
            return made

        jail = stack.enter_context(Jail())
        cpus = jail.workers
        few = max(cpus, chunk // 10 // cpus * cpus)
        contenders = [
            Contender("jailpy", functools.partial(jailed, jail), chunk),
            Contender("fork, 1 process", functools.partial(worked, workers(fork_worker, 1)), chunk),
            Contender("fork, 1 a CPU", functools.partial(worked, workers(fork_worker, cpus)), chunk // cpus * cpus),
            Contender("subprocess", functools.partial(worked, workers(lambda: Worker({"spawn": PYTHON}), cpus)), few),
        ]
        if bwrap := bwrap_argv():
            made = workers(lambda: Worker({"spawn": bwrap}), cpus)
            contenders.append(Contender("bubblewrap", functools.partial(worked, made), few))
        for contender in contenders:
            contender.chunk(2 * cpus)
        for done in range(rounds):
            common.progress(f"round {done + 1} of {rounds}")
            for contender in contenders:
                contender.turn()
        common.progress("")
    return contenders


def show(figures: dict[str, dict[str, Any]]) -> dict[str, float]:
    """The table, the parts, and the promised ratios."""
    rows = [
        (
            name,
            str(each["runs"]),
            *(common.number(each[key], 0) for key in ("runs_per_s", "slowest")),
            common.number(each["cpu_ms"]),
            common.number(figures["jailpy"]["runs_per_s"] / each["runs_per_s"]),
        )
        for name, each in figures.items()
    ]
    common.table(("median of chunks", "runs", "runs/s", "slowest", "CPU ms/run", "jailpy is x"), rows)
    parts = figures["jailpy"]["cpu_parts_ms"]
    print("CPU ms of a jailpy run: " + ", ".join(f"{part} {used:.2f}" for part, used in parts.items()) + "\n")
    rate = figures["jailpy"]["runs_per_s"]
    found = [("jailpy / bare fork loop", rate / figures["fork, 1 process"]["runs_per_s"], "at least 0.6")]
    if "bubblewrap" in figures:
        found.append(("jailpy / bubblewrap", rate / figures["bubblewrap"]["runs_per_s"], "at least 10"))
    for name, ratio, promise in found:
        print(f"{name}: {ratio:.2f} ({promise})")
    return {name: ratio for name, ratio, _ in found}


def main() -> None:
    """One table."""
    arguments = common.parser(__doc__).parse_args()
    common.print_machine()
    contenders = measure(*((6, 200) if arguments.quick else (20, 500)))
    figures = {contender.name: contender.figures() for contender in contenders}
    ratios = show(figures)
    common.write_json(arguments.json, {"throughput": figures, "ratios": ratios})


if __name__ == "__main__":
    main()
