"""Hostile programs that want out of a jail, or more than their share of the host, one technique a file of `pack`.

Each prints one word: the error with which it was refused, `worked`, or what its text says. A program that is ended says
by its status what ended it. Each begins with a docstring: what it tries, and then, a line each,

    rows     what kind of attack it belongs to: B lifetime, C time, D descriptors, F files, H what outlives a run, I shared
             kernel objects, K kernel calls, M memory, N namespaces, O output, P /proc and /sys, R results, S disk, T other
             processes, W network, X terminals and devices
    guards   the layers that stop it, in the order in which it meets them, each with the word that says so: `seccomp=EPERM`;
             `A|B` where kernels differ. With the layers before it taken away, each stops the technique alone
    works    the word without any of them, default `worked`; `canary`: something outside of the jail changed
    control  how that is shown: `host`, as a plain process, `root`, as one of root's, `none, REASON`, or, without the line,
             in a jail less these layers
    needs    a layer of the host's without which even a control sees nothing
    limits   what the guest may use, as NAME=NUMBER of `Limits`
    runs     how many guests in a row; the last one's word counts
    machine  the only architecture that has it

The programs do no harm where they work: they read what is there to be read, write to folders that were made for it, and
ask for what would harm the machine with an argument that is wrong on purpose.
"""

from __future__ import annotations

import ast
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from jailpy.errors import UsageError
from jailpy.limits import Limits
from jailpy.policy import LAYERS

WORKED = "worked"
#: What stops a technique beside the layers of a policy.
BESIDE_LAYERS = {
    "monitor": "the library, which watches from outside: clocks, CPU time, bytes of output",
    "descriptors": "what a guest inherits is closed before it starts",
    "environment": "the guest's environment is made from nothing",
    "no_process_twice": "no process that ran a guest runs another",
}
GUARDS = (*LAYERS, *BESIDE_LAYERS)
_MAY_BE_MISSING = frozenset(LAYERS) - {"memory_cgroup", "pids_cgroup"}  # something stands in for those two
_HEADERS = ("rows", "guards", "works", "control", "needs", "limits", "runs", "machine")
#: Where a header names no limit: enough for a slow machine, and too little to hurt a small one.
LIMITS = Limits(cpu_s=60, wall_s=100, memory_mb=256, processes=32, output_mb=1, disk_mb=16)


@dataclass(frozen=True, slots=True)
class Guard:
    """A layer, and the words that an attack prints, or the status that it ends with, where this layer stops it."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Escape:
    """One technique: its file's name, what it tries, its header's lines, its text."""

    name: str
    what: str
    rows: tuple[str, ...]
    guards: tuple[Guard, ...]
    works: tuple[str, ...]
    control: str
    needs: str
    limits: Limits
    runs: int
    machine: str
    code: str

    @property
    def family(self) -> str:
        """The kind of technique: the first word of the name."""
        return self.name.partition("_")[0]

    def facing(self, missing: Sequence[str] = ()) -> tuple[Guard, ...]:
        """The guards that a host has which lacks some layers, in order."""
        lacking = _MAY_BE_MISSING & set(missing)
        return tuple(guard for guard in self.guards if guard.name not in lacking)


def load(names: Sequence[str] = ()) -> list[Escape]:
    """The pack in the order of names, or those that are named. UsageError for a name that is not there."""
    files = resources.files(__name__).joinpath("pack").iterdir()
    pack = {file.name[:-3]: file for file in files if file.name.endswith(".py")}
    for name in names:
        if name not in pack:
            raise UsageError(name, "is no technique of the pack")
    return [parse(name, pack[name].read_text(encoding="utf-8")) for name in sorted(names or pack)]


def for_this_machine(pack: Sequence[Escape]) -> list[Escape]:
    """Those that this architecture can try."""
    return [escape for escape in pack if escape.machine in ("", platform.machine())]


def kit_source() -> bytes:
    """The module that the programs share, as the guest finds it in its folder."""
    return resources.files(__name__).joinpath("kit.py").read_bytes()


def parse(name: str, code: str) -> Escape:
    """A file of the pack."""
    what, _, below = (ast.get_docstring(ast.parse(code)) or "").partition("\n\n")
    header = dict(line.split(": ", 1) for line in below.splitlines())
    if unknown := header.keys() - set(_HEADERS):
        raise ValueError(f"{name}: {', '.join(sorted(unknown))} is no line of a header")
    return Escape(
        name=name,
        what=" ".join(what.split()),
        rows=tuple(header["rows"].split()),
        guards=tuple(_guard(word) for word in header["guards"].split()),
        works=tuple(header.get("works", WORKED).split("|")),
        control=header.get("control", ""),
        needs=header.get("needs", ""),
        limits=_limits(header.get("limits", "")),
        runs=int(header.get("runs", "1")),
        machine=header.get("machine", ""),
        code=code,
    )


def _guard(word: str) -> Guard:
    name, _, words = word.partition("=")
    return Guard(name, tuple(words.split("|")))


def _limits(words: str) -> Limits:
    given: dict[str, Any] = {}
    for name, _, value in (word.partition("=") for word in words.split()):
        given[name] = float(value) if "." in value else int(value)
    return replace(LIMITS, **given)
