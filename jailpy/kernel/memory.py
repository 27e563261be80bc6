"""Memory of a jail by sampling, for hosts without the memory controller.

Resident anonymous and shared memory of every process, read from /proc. Pages that forks still share are counted once a
process, so a sum over the limit is only a suspicion, which the exact, slower share (PSS) confirms or refutes.
"""

from __future__ import annotations

import ctypes
import os
import platform

from jailpy.kernel.cgroup import Leaf

_libc = ctypes.CDLL(None)
_KCMP = {"x86_64": 312, "aarch64": 272}.get(platform.machine(), -1)
_KCMP_VM = 1


def processes(init_pid: int, leaf: Leaf | None) -> list[int]:
    """Process ids of the jail as the host sees them: the leaf's, or all below PID 1."""
    if leaf is not None:
        return leaf.pids()
    found = [init_pid]
    for pid in found:  # grows while it is walked
        found.extend(_children(pid))
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                children += map(int, file.read().split())
    except OSError:  # it ended meanwhile
        return children
    return children


def without_twin(pids: list[int], holder: int) -> list[int]:
    """Leaves out the holder of a warm guest's memory, which is the guest's too, as long as that is so (kcmp(2))."""
    if holder not in pids:
        return pids
    others = [pid for pid in pids if pid != holder]
    return others if any(_same_memory(pid, holder) for pid in others) else pids


def _same_memory(one: int, other: int) -> bool:
    return bool(_libc.syscall(_KCMP, one, other, _KCMP_VM, 0, 0) == 0)


def resident(pids: list[int]) -> int:
    """Bytes of anonymous and shared memory, pages shared between the processes counted more than once."""
    return sum(_fields(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:")) for pid in pids)


def proportional(pids: list[int]) -> int:
    """The same with shared pages split between their users; a process that may not be read counts as resident."""
    total = 0
    for pid in pids:
        total += _fields(f"/proc/{pid}/smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) or resident([pid])
    return total


def tasks(pids: list[int]) -> int:
    """Processes and threads."""
    count = 0
    for pid in pids:
        try:
            count += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:  # it ended meanwhile
            continue
    return count


def cpu_us(pids: list[int]) -> int:
    """CPU time of the processes that live now, and of the children that they have waited for, in microseconds."""
    ticks = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                after_name = file.read().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        ticks += sum(map(int, after_name[11:15]))
    return ticks * 1_000_000 // os.sysconf("SC_CLK_TCK")


def _fields(path: str, names: tuple[str, ...]) -> int:
    total = 0
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(names):
                    total += int(line.split()[1])
    except OSError:  # it ended meanwhile
        return 0
    return total << 10
