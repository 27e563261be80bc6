"""The pack of escapes (jailpy/escapes/pack): each is contained, cold and warm, by the layer that its header names; each
further layer stops it alone; and it works where none of them is."""

from __future__ import annotations

import importlib
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import document
import pytest
import weaken

from jailpy import Jail, Policy, UsageError, escapes
from jailpy.escapes import Escape, attack
from jailpy.escapes.canaries import Canaries
from jailpy.kernel.probe import host
from jailpy.policy import LAYERS

PACK = escapes.for_this_machine(escapes.load())
ROOT = Path(__file__).parents[2]
#: How many rows there are of each kind (see the header of jailpy/escapes).
ROWS = {
    **{"B": 8, "C": 11, "D": 9, "F": 13, "H": 7, "I": 7, "K": 22, "M": 11, "N": 10},
    **{"O": 8, "P": 12, "R": 11, "S": 6, "T": 8, "W": 12, "X": 6, "Z": 3},
}

each_escape = pytest.mark.parametrize("escape", PACK, ids=lambda escape: escape.name)


def _peeled(escape: Escape) -> list[int]:
    """Which of its guards on this host can be left alone: those before it are taken away."""
    names = [guard.name for guard in escape.facing(tuple(host().missing))]
    return [at for at in range(1, len(names)) if weaken.can_remove(names[:at])]


ALONE = [(escape, at) for escape in PACK for at in _peeled(escape)]


def _can_be_shown(escape: Escape) -> bool:
    """As an ordinary user nobody can show what root alone may do."""
    if escape.control.startswith("none, ") or escape.needs in host().missing:
        return False
    return escape.control != "root" or weaken.is_root()


WORKING = [escape for escape in PACK if _can_be_shown(escape)]


@pytest.fixture(scope="module")
def canaries() -> Iterator[Canaries]:
    with Canaries() as made:
        yield made


@pytest.fixture(scope="module", params=attack.ways())
def jail(request: pytest.FixtureRequest, policy: Policy, canaries: Canaries) -> Iterator[Jail]:
    with attack.opened(policy, canaries, request.param) as opened:
        yield opened


@each_escape
def test_it_is_contained(jail: Jail, canaries: Canaries, escape: Escape) -> None:
    seen, changes = attack.run(jail, escape, canaries)
    assert changes == ()
    assert seen in attack.expected(escape, host()).words


@pytest.mark.parametrize(("escape", "at"), ALONE, ids=lambda value: getattr(value, "name", str(value)))
def test_each_further_layer_stops_it_alone(policy: Policy, canaries: Canaries, escape: Escape, at: int) -> None:
    guards = escape.facing(tuple(host().missing))
    seen, changes = weaken.in_a_jail_without([guard.name for guard in guards[:at]], escape, policy, canaries)
    assert changes == ()
    assert seen in guards[at].words


@pytest.mark.parametrize("escape", WORKING, ids=lambda escape: escape.name)
def test_it_works_where_none_of_them_is(policy: Policy, escape: Escape) -> None:
    with Canaries() as own:  # this one may change them
        if escape.control in ("host", "root"):
            seen, changes = weaken.on_the_host(escape, own)
        else:
            names = [guard.name for guard in escape.guards]
            assert weaken.can_remove(names)
            seen, changes = weaken.in_a_jail_without(names, escape, policy, own)
    assert weaken.worked(escape, seen, changes), (seen, changes)


@each_escape
def test_its_header_is_complete(escape: Escape) -> None:
    assert escape.what.endswith(".")
    assert escape.rows and all(re.fullmatch(r"[BCDFHIKMNOPRSTWXZ][0-9]{1,2}", row) for row in escape.rows)
    assert escape.guards and all(guard.name in escapes.GUARDS and all(guard.words) for guard in escape.guards)
    assert escape.needs in ("", *LAYERS)
    assert escape.control in ("", "host", "root") or escape.control.startswith("none, ")
    if not escape.control.startswith("none, "):  # else the same word would tell nothing
        first, *later = (set(guard.words) for guard in escape.guards)
        assert not first & set(escape.works)
        assert all(words & set(escape.works) <= {"ENOSYS"} for words in later)  # a kernel without the call


def test_every_row_is_tried_or_says_why_not() -> None:
    tried = {row for escape in escapes.load() for row in escape.rows}
    left = document.rows_not_tried().keys()
    assert not tried & left
    assert tried | left == {f"{kind}{number}" for kind, count in ROWS.items() for number in range(1, count + 1)}


def test_no_two_programs_are_the_same() -> None:
    bodies = Counter(escape.code.partition('"""\n')[2].strip() for escape in escapes.load())
    assert max(bodies.values()) == 1


def test_a_guest_that_is_not_contained_is_told(policy: Policy, canaries: Canaries) -> None:
    escape = escapes.parse("x", '"""Works.\n\nrows: F1\nguards: root=ENOENT\n"""\nprint("worked")\n')
    with attack.opened(policy, canaries, "cold") as opened:
        seen, changes = attack.run(opened, escape, canaries)
    assert not attack.Trial(escape, "cold", seen, escape.guards[0], changes).contained
    assert not attack.Trial(escape, "cold", "ENOENT", escape.guards[0], ("a file changed",)).contained
    assert attack.Trial(escape, "cold", "ENOENT", escape.guards[0], ()).contained


def test_canaries_tell_what_changed() -> None:
    with Canaries() as own:
        assert own.changes() == []
        (own.shown / "file").write_text("x")
        (own.hidden / "more").touch()
        own.process.kill()
        own.process.wait()
        changes = own.changes()
    assert f"{own.shown / 'file'} changed" in changes
    assert f"{own.hidden} changed" in changes
    assert "a process was ended" in changes


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="no_such"):
        escapes.load(["no_such"])


def test_the_document_is_current() -> None:
    assert document.DOCUMENT.read_text(encoding="utf-8") == document.text(), "run python tests/escapes/document.py"


def test_the_readme_says_how_many_there_are() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"pack of {len(escapes.load())} programs that want out" in readme


def test_the_kits_numbers_are_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    seccomp = importlib.import_module("pyseccomp")
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"name": "python"}'))  # as a guest is told where its canaries are
    kit = importlib.import_module("jailpy.escapes.kit")
    for table, machine in ((kit._X86_64, seccomp.Arch.X86_64), (kit._AARCH64, seccomp.Arch.AARCH64)):
        wanted = {**table, **kit._EVERYWHERE}
        found = {name: seccomp.resolve_syscall(machine, name) for name in wanted}
        newer = {name for name, number in found.items() if number < 0}  # than this libseccomp
        assert newer <= kit._EVERYWHERE.keys()
        assert {name: number for name, number in found.items() if name not in newer}.items() <= wanted.items()
