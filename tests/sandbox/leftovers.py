"""What a run could leave behind, and when there is nothing of it."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import tempfile
from collections import Counter
from dataclasses import dataclass

import psutil

from jailpy.kernel import probe


@dataclass(frozen=True)
class Snapshot:
    """What a run could leave behind."""

    processes: frozenset[tuple[int, str]]
    leaves: frozenset[str]
    descriptors: Counter[str]
    mounts: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def take(cls) -> Snapshot:
        gc.collect()
        return cls(processes(), _leaves(), _descriptors(), _mounts(), _folders())

    def beyond(self, before: Snapshot) -> dict[str, object]:
        """What is here and was not there before."""
        more = {
            "processes": self.processes - before.processes,
            "leaves": self.leaves - before.leaves,
            "descriptors": self.descriptors - before.descriptors,
            "mounts": self.mounts - before.mounts,
            "folders": self.folders - before.folders,
        }
        return {name: found for name, found in more.items() if found}


def processes() -> frozenset[tuple[int, str]]:
    found = set()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            found.add((child.pid, f"{child.name()} {child.status()}"))
    return frozenset(found)


def _leaves() -> frozenset[str]:
    home = probe.host().cgroup
    return frozenset(entry.name for entry in os.scandir(home.path) if entry.is_dir()) if home else frozenset()


def _descriptors() -> Counter[str]:
    found: Counter[str] = Counter()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one of the listing
            found[re.sub(r"\[\d+\]", "", os.readlink(f"/proc/self/fd/{name}"))] += 1
    return found


def _mounts() -> frozenset[str]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        return frozenset(line for line in file if "jailpy" in line or "jail" in line.split(" - ")[1])


def _folders() -> frozenset[str]:
    return frozenset(name for name in os.listdir(tempfile.gettempdir()) if name.startswith("jailpy-"))
