"""What a parked jail costs in memory beyond the zygote that it came from.

Counts anonymous pages: those of programs and libraries are the page cache's. A page that a jail shares with its zygote
counts once, whoever has it (the processes' PSS), and so does an address space that two processes share. `beyond their
zygotes` is what all parked jails and zygotes have together, less what the zygotes would have alone, a jail. Private
pages are what a jail's end gives back. The kernel's own part (page tables, stacks, slabs: namespaces, mounts,
descriptors) comes from /proc/meminfo, where everything else on the machine shows too: read it on a quiet one.
"""

from __future__ import annotations

import contextlib
import ctypes
import platform
import re
from pathlib import Path
from typing import Any

from benchmarks import common
from jailpy import Jail

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


def spaces(groups: list[Path]) -> list[int]:
    """The address spaces of all that runs in these cgroups."""
    return [pid for group in groups for pid in address_spaces(common.pids(group))]


def measure(workers: int) -> dict[str, Any]:
    """All figures, from the jails that so many workers keep parked."""
    if common.home() is None:
        raise SystemExit("needs cgroup v2: that is where the processes of a jail are looked up")
    kernel = _kib("/proc/meminfo", _KERNEL)
    with Jail(workers=workers) as jail:
        for _ in range(3 * workers):
            jail.run(common.PROGRAM)
        common.settle(jail)
        parked = jail.statistics()["parked"]
        zygotes, jails = spaces(common.groups("self")), spaces(common.groups("slot-*"))
        together = sum(smaps(pid, "Pss_Anon") for pid in zygotes + jails)
        alone = sum(smaps(pid, "Anonymous") for pid in zygotes)
        return {
            "parked": parked,
            "zygotes_rss_kib": sum(smaps(pid, "Rss") for pid in zygotes) / len(common.groups("self")),
            "beyond_zygote_kib": (together - alone) / parked,
            "private_kib": {name: total / parked for name, total in _by_name(jails).items()},
            "kernel_kib": (_kib("/proc/meminfo", _KERNEL) - kernel) / parked,
        }


def parked_kib() -> float:
    """What one parked jail has beyond its zygote, KiB."""
    beyond: float = measure(4)["beyond_zygote_kib"]
    return beyond


def _by_name(pids: list[int]) -> dict[str, int]:
    """Private pages by the program that has them."""
    totals: dict[str, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
            totals[name] = totals.get(name, 0) + smaps(pid, "Private_Clean", "Private_Dirty")
    return totals


def main() -> None:
    """A few lines."""
    arguments = common.parser(__doc__).parse_args()
    common.print_machine()
    figures = measure(4 if arguments.quick else 16)
    print(f"a zygote and its PID 1, RSS:              {figures['zygotes_rss_kib']:.0f} KiB")
    print(
        f"{figures['parked']} parked jails, beyond their zygotes:    {figures['beyond_zygote_kib']:.0f} KiB each",
        end="",
    )
    print(" (at most 2048)")
    for name, kib in figures["private_kib"].items():
        print(f"  private pages of {name + ':':<25}{kib:.0f} KiB")
    print(f"kernel memory of all that, zygotes included: {figures['kernel_kib']:.0f} KiB a jail")
    common.write_json(arguments.json, {"memory": figures})


if __name__ == "__main__":
    main()
