"""Plain values as bytes that are equal exactly when the values count as equal.

Bytes are hashed with a secret of this process, so a guest cannot choose values that collide, and they have an order, so
that members of a set have one too.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: Values that are nested deeper equal nothing.
MAX_DEPTH = 50
_CONTAINERS = frozenset((list, tuple, set, frozenset, dict))
_pack = struct.Struct(">d").pack


@dataclass(frozen=True, slots=True)
class Canonical:
    """What counts as equal beyond Python's == (with list = tuple): the options of `ValueCompare`."""

    nan_equal: bool
    strict_types: bool

    def of(self, value: Any, unordered: int = 0, depth: int = 0) -> bytes | None:
        """The bytes of a value; None for one that equals nothing: opaque, nan (unless `nan_equal`), nested too deep, or
        holding such a value.

        unordered   of so many levels of lists and tuples the order does not count
        """
        kind = type(value)
        if depth > MAX_DEPTH:
            return None
        if kind not in _CONTAINERS:
            body = _leaf(value, kind, self.nan_equal)
        elif kind is list or kind is tuple:
            items = [self.of(item, unordered - 1, depth + 1) for item in value]
            body = _joined(b"l", items, ordered=unordered <= 0)
        elif kind is set or kind is frozenset:
            body = _joined(b"S", [self.of(item, 0, depth + 1) for item in value], ordered=False)
        else:
            pairs = [(self.of(key, 0, depth + 1), self.of(value[key], unordered - 1, depth + 1)) for key in value]
            body = _joined(b"d", [_joined(b"", pair, ordered=True) for pair in pairs], ordered=False)
        return b"%b %b" % (kind.__name__.encode(), body) if self.strict_types and body is not None else body


def _joined(tag: bytes, items: Sequence[bytes | None], *, ordered: bool) -> bytes | None:
    known = [b"%d:%b" % (len(item), item) for item in items if item is not None]
    if len(known) < len(items):
        return None
    return tag + b"".join(known if ordered else sorted(known))


def _leaf(value: Any, kind: type, nan_equal: bool) -> bytes | None:
    if kind is int or kind is bool:
        return b"i%x" % value
    if kind is str:
        return b"s" + str.encode(value, "utf-8", "surrogatepass")
    if kind is bytes:
        return b"b" + bytes(value)
    if kind is float:
        if value.is_integer():  # inf and nan are none
            return b"i%x" % int(value)
        if math.isnan(value):
            return b"nan" if nan_equal else None
        return b"f" + _pack(value)
    return b"N" if value is None else None


def order(value: Any, unordered: int = 0, depth: int = 0) -> tuple[Any, ...]:
    """A key that sorts plain values of any types: numbers by size, the rest by type, text, and what is in them."""
    kind = type(value)
    if kind is bool or kind is int or kind is float:
        return (1, 0) if kind is float and math.isnan(value) else (0, value)
    if kind is str or kind is bytes:
        return (2 if kind is str else 3, value)
    if depth <= MAX_DEPTH and kind in (list, tuple, set, frozenset):
        items = [order(item, unordered - 1, depth + 1) for item in value]
        by_size = unordered > 0 or kind is set or kind is frozenset
        return (4, len(items), tuple(sorted(items) if by_size else items))
    if depth <= MAX_DEPTH and kind is dict:
        pairs = [(order(key, 0, depth + 1), order(value[key], unordered - 1, depth + 1)) for key in value]
        return (5, len(pairs), tuple(sorted(pairs)))
    return (6,)
