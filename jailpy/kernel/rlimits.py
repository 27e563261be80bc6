"""`Limits` to rlimits. What the cgroup limits as a whole, these back up a process at a time."""

from __future__ import annotations

import math
import resource

from jailpy.kernel.spec import Rlimit
from jailpy.limits import Limits

# A limit of exactly 1 makes the kernel give up a core dump even where core_pattern is a pipe to a program that runs
# as root outside of every namespace; 0 does not (core(5), fs/coredump.c).
CORE = 1


def lower(limits: Limits, *, count_processes: bool, beside: int = 0) -> tuple[Rlimit, ...]:
    """Limits as rlimits, clamped to the hard limits that this process itself has.

    `count_processes`: RLIMIT_NPROC stands in for a missing pids controller. It counts per user namespace, so per jail,
    and leaves one more than allowed, so that the monitor sees the jail step over its limit instead of at it. `beside`
    is how many processes of ours share the guest's user in the jail.
    """
    stack = min(limits.memory_bytes, 1 << 30)
    wanted = [
        (resource.RLIMIT_CORE, CORE),
        # The monitor ends the jail by the CPU time of all its processes; this is for the day on which it cannot.
        (resource.RLIMIT_CPU, math.ceil(limits.cpu_s) + 2),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.disk_bytes),
        (resource.RLIMIT_STACK, max(stack, 8 << 20)),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_RTPRIO, 0),
        (resource.RLIMIT_NICE, 0),
        (resource.RLIMIT_SIGPENDING, 1024),
    ]
    if count_processes:
        wanted.append((resource.RLIMIT_NPROC, limits.processes + 1 + beside))
    return tuple(_clamped(name, value) for name, value in wanted)


def _clamped(name: int, value: int) -> Rlimit:
    hard = resource.getrlimit(name)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    return Rlimit(name, value, value)
