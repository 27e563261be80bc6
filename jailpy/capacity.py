"""How much of the host this process may use: its CPUs and its memory, as the container around it allows."""

from __future__ import annotations

import contextlib
import math
import os

import psutil

_MEMORY_SHARE = 0.8  # of what is there; the rest is the library's, the trainer's and the kernel's


def cpus() -> int:
    """CPUs by affinity and by the cgroup's quota, at least 1."""
    allowed = len(os.sched_getaffinity(0))
    quota = _quota()
    return max(1, allowed if quota is None else min(allowed, math.ceil(quota)))


def memory_budget() -> int:
    """Bytes that all running jails together may be promised."""
    total = psutil.virtual_memory().total
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
            total = min(total, int(file.read()))
    return int(total * _MEMORY_SHARE)


def _quota() -> float | None:
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
        quota, period = file.read().split()
        return int(quota) / int(period)
    folder = "/sys/fs/cgroup/cpu/cpu.cfs_"
    with contextlib.suppress(OSError, ValueError), open(f"{folder}quota_us", encoding="ascii") as file:
        micros = int(file.read())
        with open(f"{folder}period_us", encoding="ascii") as period_file:
            return micros / int(period_file.read()) if micros > 0 else None
    return None
