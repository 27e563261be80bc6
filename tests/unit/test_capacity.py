"""How much of the host may be used: by affinity, quota and memory limits."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from jailpy import capacity

GIB = 1 << 30

Files = Callable[[dict[str, str]], None]


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    """Replaces the files below /sys/fs/cgroup."""

    def replace(contents: dict[str, str]) -> None:
        real = builtins.open

        def fake(path: Any, *args: Any, **kwargs: Any) -> Any:
            if str(path).startswith("/sys/fs/cgroup/"):
                if str(path) not in contents:
                    raise FileNotFoundError(path)
                return io.StringIO(contents[str(path)])
            return real(path, *args, **kwargs)

        monkeypatch.setattr(builtins, "open", fake)

    return replace


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host of 8 CPUs and 16 GiB."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("M", (), {"total": 16 * GIB}))


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ({}, 8),
        ({"/sys/fs/cgroup/cpu.max": "max 100000\n"}, 8),
        ({"/sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2),
        ({"/sys/fs/cgroup/cpu.max": "150000 100000\n"}, 2),
        ({"/sys/fs/cgroup/cpu.max": "10000 100000\n"}, 1),
        ({"/sys/fs/cgroup/cpu.max": "6400000 100000\n"}, 8),
        ({"/sys/fs/cgroup/cpu.max": "nonsense\n"}, 8),
        ({"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 8),
        ({"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 3),
    ],
)
def test_cpus(files: Files, contents: dict[str, str], expected: int) -> None:
    files(contents)
    assert capacity.cpus() == expected


def test_one_cpu_of_affinity(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    files({"/sys/fs/cgroup/cpu.max": "400000 100000\n"})
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {5})
    assert capacity.cpus() == 1


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ({}, 16 * GIB),
        ({"/sys/fs/cgroup/memory.max": "max\n"}, 16 * GIB),
        ({"/sys/fs/cgroup/memory.max": f"{4 * GIB}\n"}, 4 * GIB),
        ({"/sys/fs/cgroup/memory.max": f"{64 * GIB}\n"}, 16 * GIB),
        ({"/sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}\n"}, 2 * GIB),
        ({"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 16 * GIB),
    ],
)
def test_memory_leaves_a_share_to_the_host(files: Files, contents: dict[str, str], expected: int) -> None:
    files(contents)
    assert 0.5 * expected < capacity.memory_budget() < expected
