"""What a parked jail costs in memory beyond the zygote that it came from.

Parks jails one after another from one zygote, and reads the PSS of every address space in our cgroups before and
after: pages that a jail shares with its zygote count once, whoever has them, and so does an address space that two
processes share. `beyond that` is the growth a jail: its PID 1 and its parked interpreter. The kernel's own part (page
tables, stacks, slabs: namespaces, mounts, descriptors) comes from /proc/meminfo, where everything else on the machine
shows too: read it on a quiet one.
"""

from __future__ import annotations

import contextlib
import ctypes
import platform
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import common
from jailpy import Limits, Policy, languages
from jailpy.kernel.probe import host
from jailpy.warm import Slot, WarmJail, Zygote

_libc = ctypes.CDLL(None)
_KCMP, _KCMP_VM = (312 if platform.machine() == "x86_64" else 272), 1  # kcmp(2): do two processes share memory
_KERNEL = ("Slab", "PageTables", "KernelStack", "Percpu")


def smaps(pid: int, *fields: str) -> int:
    """The sum of these fields of /proc/<pid>/smaps_rollup, KiB; 0 for a process that has ended."""
    with contextlib.suppress(OSError):
        return _kib(f"/proc/{pid}/smaps_rollup", fields)
    return 0


def _kib(path: str, fields: tuple[str, ...]) -> int:
    found = re.findall(r"^(\w+): +(\d+) kB$", Path(path).read_text(encoding="ascii"), re.MULTILINE)
    return sum(int(value) for name, value in found if name in fields)


def address_spaces(pids: list[int]) -> list[int]:
    """One process of each address space: clones may share one, and its pages are there once."""
    kept: list[int] = []
    for pid in pids:
        if not any(_libc.syscall(_KCMP, pid, other, _KCMP_VM, 0, 0) == 0 for other in kept):
            kept.append(pid)
    return kept


def pss(groups: list[Path]) -> int:
    """Proportional set size of all that runs in these cgroups, KiB."""
    return sum(smaps(pid, "Pss") for group in groups for pid in address_spaces(common.pids(group)))


def kernel_kib() -> int:
    """What the kernel holds for itself, KiB."""
    return _kib("/proc/meminfo", _KERNEL)


@contextlib.contextmanager
def zygote() -> Iterator[Zygote]:
    """One zygote, as a Jail with default limits would start it."""
    made = Zygote(Policy.from_environment(), Limits(), host(), languages.PRELOAD)
    try:
        yield made
    finally:
        made.close()


def park(made: Zygote, count: int, first: int = 1) -> list[WarmJail]:
    """So many jails, each in a slot of its own, settled."""
    jails = [made.park(Slot(first + number)) for number in range(count)]
    time.sleep(0.1)
    return jails


def end(jails: list[WarmJail]) -> None:
    """Ends jails that had no run."""
    for jail in jails:
        jail.discard()
    for jail in jails:
        jail.close()
        jail.slot.retire()


def parked_kib(count: int = 10) -> float:
    """PSS of one parked jail beyond its zygote, KiB."""
    return measure(count)["beyond_zygote_kib"]


def measure(count: int) -> dict[str, Any]:
    """All figures, from `count` parked jails."""
    if common.home() is None:
        raise SystemExit("needs cgroup v2: that is where the processes of a jail are looked up")
    with zygote() as made:
        own = [path for path in common.groups("self") if made.place and Path(made.place.path) == path.parent]
        first = park(made, 1)  # what the zygote dirties at its first fork is its own
        before, kernel = pss(own + common.groups("slot-*")), kernel_kib()
        jails = park(made, count, first=2)
        leaves = [jail.slot.leaf for jail in jails]
        places = [Path(leaf.home.path) / leaf.name for leaf in leaves if leaf is not None]
        figures = {
            "jails": count,
            "zygote_rss_kib": sum(smaps(pid, "Rss") for group in own for pid in common.pids(group)),
            "beyond_zygote_kib": (pss(own + common.groups("slot-*")) - before) / count,
            "private_kib": {name: total / count for name, total in _by_process(places).items()},
            "kernel_kib": (kernel_kib() - kernel) / count,
            "processes": sum(len(common.pids(place)) for place in places) / count,
        }
        end(first + jails)
    return figures


def _by_process(places: list[Path]) -> dict[str, int]:
    """Private pages by what the process is."""
    totals: dict[str, int] = {}
    for place in places:
        for pid in address_spaces(common.pids(place)):
            with contextlib.suppress(OSError):
                name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
                inner = re.search(r"^NSpid:.*\t(\d+)$", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"), re.M)
                key = f"{name} ({inner[1]})" if inner else name
                totals[key] = totals.get(key, 0) + smaps(pid, "Private_Clean", "Private_Dirty")
    return totals


def main() -> None:
    """A few lines."""
    arguments = common.parser(__doc__).parse_args()
    common.print_machine()
    figures = measure(10 if arguments.quick else 50)
    print(f"zygote and its PID 1, RSS:          {figures['zygote_rss_kib']} KiB")
    print(f"a parked jail, PSS beyond that:     {figures['beyond_zygote_kib']:.0f} KiB (at most 2048)")
    for name, kib in figures["private_kib"].items():
        print(f"  private pages of {name + ':':<19}{kib:.0f} KiB")
    print(f"kernel memory (whole machine):      {figures['kernel_kib']:.0f} KiB a jail")
    common.write_json(arguments.json, {"memory": figures})


if __name__ == "__main__":
    main()
