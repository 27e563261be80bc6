"""Writes docs/escapes.md from the headers of the pack: `python tests/escapes/document.py`. A test says when it is stale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from jailpy import escapes
from jailpy.escapes import Escape
from jailpy.policy import LAYERS

DOCUMENT = Path(__file__).parents[2] / "docs" / "escapes.md"
NOT_TRIED = Path(__file__).with_name("not_tried.txt")

_HEAD = """\
# What stops which escape

Generated from `jailpy/escapes/pack` by `tests/escapes/document.py`; a test keeps it current.

`jailpy doctor --attack` runs all of these programs on a host, in jails made on the spot and in jails made ahead. Each
prints one word, the error with which it was refused, or is ended with a status; it is contained when that is exactly the
word of the first layer below that the host has, and when nothing outside of the jail has changed: files, pipes, sockets,
mounts, processes.

*Stopped by* lists layers in the order in which a program meets them. The tests take layers away, one after another (the
same jail, its spec less the rows of that layer): each layer then has to stop the program alone, with its own word, and
without any of them the program has to work. *Shown to work* says where: in a jail less these layers; on the host, as a
plain process, or as one of root's; or why nowhere. A layer that only such a host process lacks was not taken away alone.
"""


def rows_not_tried() -> dict[str, str]:
    """Row to what it is and why it has no program."""
    lines = NOT_TRIED.read_text(encoding="utf-8").splitlines()
    return {row: said for row, _, said in (line.partition(" ") for line in lines)}


def text() -> str:
    """The whole document."""
    pack = escapes.load()
    return "\n".join([_HEAD, *_by_layer(pack), "", *_techniques(pack), "", *_rest()]) + "\n"


def _by_layer(pack: list[Escape]) -> Iterator[str]:
    first = Counter(escape.guards[0].name for escape in pack)
    any_of = Counter(guard.name for escape in pack for guard in escape.guards)
    several = sum(len(escape.guards) > 1 for escape in pack)
    yield "## Layers"
    yield ""
    yield f"{len(pack)} techniques; {several} of them are stopped by two layers or more."
    yield ""
    yield from _table(
        ("layer", "meets it first", "stops it at all"),
        ((name, str(first[name]), str(any_of[name])) for name in escapes.GUARDS if any_of[name]),
    )
    yield ""
    unused = ", ".join(f"`{name}`" for name in LAYERS if not any_of[name])
    yield f"No technique needs {unused}: they carry other layers, or hold what these leave."
    yield ""
    for name, what in escapes.BESIDE_LAYERS.items():
        yield f"- `{name}`: {what}"


def _techniques(pack: list[Escape]) -> Iterator[str]:
    yield "## Techniques"
    yield ""
    yield from _table(
        ("technique", "what it tries", "stopped by", "shown to work", "rows"),
        (
            (
                f"`{escape.name}`",
                escape.what,
                ", ".join(f"{guard.name} ({' or '.join(guard.words)})" for guard in escape.guards),
                _control(escape),
                " ".join(escape.rows),
            )
            for escape in pack
        ),
    )


def _control(escape: Escape) -> str:
    if escape.control.startswith("none, "):
        return f"no: {escape.control.removeprefix('none, ')}"
    where = {"": "in a jail without", "host": "on the host", "root": "on the host, as root"}[escape.control]
    words = " or ".join("something outside changed" if word == "canary" else word for word in escape.works)
    return f"{where}: {words}"


def _rest() -> Iterator[str]:
    yield "## Not tried"
    yield ""
    yield from _table(("row", "what it is, and why it has no program"), rows_not_tried().items())


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"


if __name__ == "__main__":
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(text(), encoding="utf-8")
