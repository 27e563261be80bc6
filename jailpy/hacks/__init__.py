"""Hostile programs that want a reward without solving the problem, one technique a file of `pack`.

Each begins with a docstring: what it tries, and then, a line each,

    rows   what kind of forging it belongs to: G in the interpreter of the tests, H what outlives a run, O output,
           R how results are collected
    fools  the naive graders (`naive.py`) that it fools, each with a suite (`problem.py`), as `grader/suite`

The hacks do no harm beyond the grader, but they are hostile to it: they kill its processes, write into its folder and
change its interpreter. jailpy runs them in jails only.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from jailpy.errors import UsageError
from jailpy.hacks import problem


@dataclass(frozen=True, slots=True)
class Hack:
    """One technique: its file's name, what it tries, the rows and the (grader, suite) pairs of its header, its text."""

    name: str
    what: str
    rows: tuple[str, ...]
    fools: tuple[tuple[str, str], ...]
    code: str

    @property
    def family(self) -> str:
        """The kind of technique: the first word of the name."""
        return self.name.partition("_")[0]

    @property
    def suites(self) -> tuple[str, ...]:
        """Those that every hack is graded by, and those that this one is made for."""
        return tuple(dict.fromkeys((*problem.BASE, *self.made_for)))

    @property
    def made_for(self) -> tuple[str, ...]:
        """The suites in which it fools a naive grader."""
        return tuple(dict.fromkeys(suite for _, suite in self.fools))


def load(names: Sequence[str] = ()) -> list[Hack]:
    """The pack in the order of names, or those that are named. UsageError for a name that is not there."""
    files = resources.files(__name__).joinpath("pack").iterdir()
    pack = [_parse(file.name[:-3], file.read_text(encoding="utf-8")) for file in files if file.name.endswith(".py")]
    known = {hack.name for hack in pack}
    for name in names:
        if name not in known:
            raise UsageError(name, "is no technique of the pack; `jailpy hacks --list` names them")
    return sorted((hack for hack in pack if not names or hack.name in names), key=lambda hack: hack.name)


def _parse(name: str, code: str) -> Hack:
    what, _, header = (ast.get_docstring(ast.parse(code)) or "").partition("\n\nrows: ")
    rows, _, fools = header.partition("\nfools: ")
    pairs = [pair.partition("/") for pair in fools.split()]
    return Hack(
        name, " ".join(what.split()), tuple(rows.split()), tuple((grader, suite) for grader, _, suite in pairs), code
    )
