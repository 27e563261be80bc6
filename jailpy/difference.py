"""How a difference is shown to a person: in one line of ASCII, at a cost that does not grow with the values.

Both sides are cut around the first difference. Text is shown quoted and escaped, so that blanks and invisible
characters can be seen; where only such, or only upper and lower case, differ, the line says so.
"""

from __future__ import annotations

from typing import Any, TypeVar

from jailpy.guest.values import Opaque

MAX_LINE = 300
_MAX_EXCERPT = 90
_BEFORE = 12  # characters in front of a difference
_BITS_SHOWN = 256
_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", dict: "{}", set: "{}", frozenset: "{}"}
#: BOM, zero-width characters, soft hyphen and no-break space to nothing.
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad\u00a0"))
_LONGEST_HINT = 10_000

_Text = TypeVar("_Text", str, bytes)


def line(place: str, got: str, expected: str, hint: str = "") -> str:
    """The whole line; `hint` stands at its end."""
    text = f"{place}: got {got}, expected {expected}"
    most = MAX_LINE - len(hint)
    return (text if len(text) <= most else text[: most - 3] + "...") + hint


def same_prefix(got: _Text, expected: _Text) -> int:
    """How many characters or bytes are equal from the start."""
    low, high = 0, min(len(got), len(expected))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if got[low:middle] == expected[low:middle] else (low, middle - 1)
    return low


def excerpt(text: str | bytes, at: int = 0) -> str:
    """Text, quoted and escaped, from a little before `at`; dots stand for what is left out."""
    start = max(0, at - _BEFORE) if at > 20 else 0
    quoted = ascii(text[start : start + _MAX_EXCERPT])
    quoted = quoted[1:] if isinstance(text, bytes) else quoted
    if len(quoted) > _MAX_EXCERPT - 6 or len(text) > start + _MAX_EXCERPT:
        quoted = quoted[: _MAX_EXCERPT - 6] + "..."
    return "..." + quoted if start else quoted


def hint(got: str | bytes, expected: str | bytes) -> str:
    """In words what kind of difference it is, where an eye would miss it."""
    if max(len(got), len(expected)) > _LONGEST_HINT:
        return ""
    mine, right = (text if isinstance(text, str) else text.decode("utf-8", "surrogateescape") for text in (got, expected))
    if "".join(mine.split()) == "".join(right.split()):
        return " (only white space differs)"
    if mine.translate(_INVISIBLE) == right.translate(_INVISIBLE):
        return " (only invisible characters differ)"
    return " (only upper and lower case differ)" if mine.lower() == right.lower() else ""


def off_by(got: float, expected: float) -> str:
    """By how much two finite numbers differ."""
    return f" (off by {abs(got - expected):.3g})"


def show(value: Any, depth: int = 2) -> str:
    """A plain value as a Python-like literal, cut."""
    kind = type(value)
    if kind is Opaque:
        text = ascii(value.type_name)[1:-1] + " object"
    elif kind is int and value.bit_length() > _BITS_SHOWN:
        text = f"an int of {value.bit_length()} bits that ends in {abs(value) % 10**9:09}"
    elif kind is str or kind is bytes:
        text = ascii(value[:_MAX_EXCERPT])
    elif kind in _BRACKETS:
        first = [item for item, _ in zip(value, range(4 if depth else 0), strict=False)]
        parts = [show(k, depth - 1) + (": " + show(value[k], depth - 1) if kind is dict else "") for k in first]
        more = ["..."] if len(value) > len(first) else []
        text = _BRACKETS[kind][0] + ", ".join(parts + more) + _BRACKETS[kind][1]
    else:
        text = ascii(value)
    return text if len(text) <= _MAX_EXCERPT else text[: _MAX_EXCERPT - 3] + "..."


def typed(value: Any) -> str:
    """`show` with the name of the type in front, where the literal does not say it."""
    return show(value) if value is None or type(value) is Opaque else f"{type(value).__name__} {show(value)}"


def place(labels: list[Any]) -> str:
    """`value[0]['key']`, its middle cut when it is long."""
    shown = ["[" + show(label, 1)[:24] + "]" for label in labels[:2] + labels[2:][-2:]]
    return "".join(["value", *shown[:2], "..." if len(labels) > 4 else "", *shown[2:]])
