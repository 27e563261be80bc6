"""What the measurements share: arguments, percentiles, CPU and process counts, tables, the JSON file."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jailpy import Jail
from jailpy.kernel.probe import host

PROGRAM = "print(1)"
_STILL_S = 0.03


def parser(doc: str | None) -> argparse.ArgumentParser:
    """--quick and --json, which every measurement has."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true", help="fewer rounds: about half a minute")
    made.add_argument("--json", metavar="OUT", help="write every figure to this file")
    return made


def write_json(path: str | None, figures: dict[str, Any]) -> None:
    """The figures and where they were taken."""
    if path:
        Path(path).write_text(json.dumps({"machine": machine(), **figures}, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """What a reader must know to place the figures. Absolute times of another machine do not compare."""
    return {
        "kernel": platform.release(),
        "python": platform.python_version(),
        "cpus": len(os.sched_getaffinity(0)),
        "load_1min": round(os.getloadavg()[0], 2),
        "missing_layers": sorted(host().missing),
    }


def print_machine() -> None:
    """One line above every table."""
    facts = machine()
    missing = ", ".join(facts["missing_layers"]) or "none"
    print(
        f"Linux {facts['kernel']}, Python {facts['python']}, {facts['cpus']} CPUs, load {facts['load_1min']}; "
        f"layers that this host lacks: {missing}\n"
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed; nan for none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def spread(values: Sequence[float]) -> dict[str, float]:
    """p50, p90, p99 and the largest."""
    return {
        "n": len(values),
        "p50": percentile(values, 0.5),
        "p90": percentile(values, 0.9),
        "p99": percentile(values, 0.99),
        "max": max(values, default=math.nan),
    }


def number(value: float | None, digits: int = 2) -> str:
    """A cell; empty where there is no value."""
    return "" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns as wide as their cells; the first one left, the others right aligned."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    for line in lines:
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        print("  ".join(cells).rstrip())
    print()


@dataclass(frozen=True, slots=True)
class Cpu:
    """CPU seconds: this process in user and in system mode, its reaped children, zygotes, jails."""

    user: float
    system: float
    children: float
    zygotes: float
    jails: float

    @classmethod
    def now(cls) -> Cpu:
        """All counters at this moment."""
        own = resource.getrusage(resource.RUSAGE_SELF)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        zygotes, everything = _cgroup_cpu()
        return cls(own.ru_utime, own.ru_stime, children.ru_utime + children.ru_stime, zygotes, everything - zygotes)

    def since(self, before: Cpu) -> Cpu:
        """What was used between two moments."""
        return Cpu(
            self.user - before.user,
            self.system - before.system,
            self.children - before.children,
            self.zygotes - before.zygotes,
            self.jails - before.jails,
        )

    @property
    def warm(self) -> float:
        """What warm jails cost: this process, and all that is in its cgroups."""
        return self.user + self.system + self.zygotes + self.jails

    @property
    def spawned(self) -> float:
        """What runs that ended as this process's children cost."""
        return self.user + self.system + self.children


def home() -> Path | None:
    """This process's folder of cgroups; None where the host has no cgroup v2."""
    place = host().cgroup
    return Path(place.path) if place else None


def groups(pattern: str) -> list[Path]:
    """Our cgroups of this kind: "self" holds a zygote and its PID 1, "slot-*" one jail."""
    place = home()
    return sorted(place.glob(f"zygote-*/{pattern}")) if place else []


def pids(group: Path) -> list[int]:
    """The processes of one group; none where it is gone."""
    with contextlib.suppress(OSError):
        return [int(pid) for pid in (group / "cgroup.procs").read_text(encoding="ascii").split()]
    return []


def stat(group: Path, file: str, key: str) -> int:
    """One number of a cgroup's flat file; 0 where it is not there."""
    with contextlib.suppress(OSError):
        for line in (group / file).read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return 0


def _cgroup_cpu() -> tuple[float, float]:
    place = home()
    if place is None:
        return 0.0, 0.0
    zygotes = sum(stat(group, "cpu.stat", "usage_usec") for group in groups("self"))
    return zygotes / 1e6, stat(place, "cpu.stat", "usage_usec") / 1e6


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Polls until it holds; False when it did not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def settle(jail: Jail, seconds: float = 10.0) -> None:
    """Until nothing runs and no more jails are being parked: their number has stayed the same for a while."""
    last, since = -1, time.monotonic()
    deadline = since + seconds
    while time.monotonic() - since < _STILL_S:
        if time.monotonic() > deadline:
            print(f"the jails did not come to rest within {seconds:.0f} s: {jail.statistics()}", file=sys.stderr)
            return
        now = jail.statistics()
        if now["parked"] != last or now["running"] or now["parked"] == 0:
            last, since = now["parked"], time.monotonic()
        time.sleep(0.002)


def progress(text: str) -> None:
    """What is going on, on a terminal's stderr."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()
