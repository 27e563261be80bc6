"""An exact, bounded codec for plain values. Needs nothing but the standard library and runs on Python 3.9 and later.

One value is one frame; lengths and counts are decimal ASCII without leading zeros:

    N  T  F                     None, True, False
    i LENGTH : HEX              int: lower-case hexadecimal digits, `-` in front when negative, no leading zeros
    f 8-BYTES                   float: IEEE 754 double, big-endian
    s LENGTH : BYTES            str in UTF-8; lone surrogates as their three bytes
    b LENGTH : BYTES            bytes
    l COUNT : VALUE ...         list
    t COUNT : VALUE ...         tuple
    S COUNT : VALUE ...         set
    Z COUNT : VALUE ...         frozenset
    d COUNT : KEY VALUE ...     dict, in its own order
    o LENGTH : BYTES            opaque: a value that is none of these; the name of its type in UTF-8

(without the blanks: `[1, "a"]` is `l2:i1:1s1:a`). Types are exact: an instance of a subclass, or of any other type, is
opaque, and an opaque value equals nothing. A container that holds itself runs into the depth or node bound.

`decode` is safe on hostile bytes: every length is checked against what is left before anything is allocated, nothing
recurses in Python, trailing bytes, duplicate or unhashable members and floods of equal hashes are refused. Keys that
are chosen to walk over the same table slots can still cost seconds at the default bounds: see MAX_MEMBERS. `encode`
runs beside guest code and protects nobody; it only never calls anything that the guest's classes define.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

MAX_BYTES = 1 << 20
MAX_NODES = 200_000
MAX_DEPTH = 200
MAX_MEMBERS = 100_000  # of one set or dict: bounds what keys that are chosen to share table slots can cost
MAX_TYPE_NAME = 100

# Bound here because guest code that runs before `encode` may replace the builtins.
_type, _len, _iter, _tuple, _int, _hash = type, len, iter, tuple, int, hash
_bool, _float, _str, _bytes, _list, _set, _frozenset, _dict = bool, float, str, bytes, list, set, frozenset, dict
_slice, _map, _TypeError, _ValueError = slice, map, TypeError, ValueError
_bit_length, _encode_str, _cut = int.bit_length, str.encode, str.__getitem__
_flatten = chain.from_iterable
_double = struct.Struct(">d")
_qualname = type.__dict__["__qualname__"].__get__  # reads the C struct, so no metaclass is asked

_OPENERS = {ord("l"): "list", ord("t"): "tuple", ord("S"): "set", ord("Z"): "frozenset", ord("d"): "dict"}
_TEXTS = {ord("i"): "int", ord("s"): "str", ord("b"): "bytes", ord("o"): "opaque value"}


class TooLarge(ValueError):
    """A value does not fit its frame; `what` is "bytes", "nodes", "depth" or "members"."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(what, limit)
        self.what = what
        self.limit = limit

    def __str__(self) -> str:
        return f"the value needs more than {self.limit} {self.what}"


class BadFrame(ValueError):
    """Bytes that are no frame of this codec; says what is wrong and at which byte."""

    def __init__(self, problem: str, at: int) -> None:
        super().__init__(problem, at)
        self.problem = problem
        self.at = at

    def __str__(self) -> str:
        return f"{self.problem} at byte {self.at}"


class Opaque:
    """Stands for a value that is not plain. Equals nothing, itself included."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Opaque({self.type_name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Opaque, (self.type_name,)


def encode(value: object, max_bytes: int = MAX_BYTES, max_nodes: int = MAX_NODES, max_depth: int = MAX_DEPTH) -> bytes:
    """The frame of a value. Raises TooLarge, never anything else, whatever the value is."""
    if max_nodes < 1:
        raise TooLarge("nodes", max_nodes)
    pieces: list[bytes] = []
    add = pieces.append
    room = max_bytes
    nodes = max_nodes - 1
    stack: list[Iterator[Any]] = [_iter((value,))]
    while stack:
        for item in stack[-1]:
            kind = _type(item)
            piece = _leaf(item, kind, room, max_bytes)
            inner: Any = None
            if piece is None:
                if kind is _list:
                    tag = b"l"
                elif kind is _tuple:
                    tag = b"t"
                elif kind is _dict:
                    tag = b"d"
                elif kind is _set:
                    tag = b"S"
                else:
                    tag = b"Z"
                count = _len(item)
                if count > MAX_MEMBERS and kind is not _list and kind is not _tuple:
                    raise TooLarge("members", MAX_MEMBERS)
                nodes -= count * 2 if kind is _dict else count
                if nodes < 0:
                    raise TooLarge("nodes", max_nodes)
                if _len(stack) > max_depth:
                    raise TooLarge("depth", max_depth)
                # A copy: another thread of the guest may change the container meanwhile.
                inner = _iter(_tuple(_flatten(_tuple(_dict.items(item))) if kind is _dict else item))
                piece = b"%b%d:" % (tag, count)
            room -= _len(piece)
            if room < 0:
                raise TooLarge("bytes", max_bytes)
            add(piece)
            if inner is not None:
                stack.append(inner)
                break
        else:
            stack.pop()
    return b"".join(pieces)


def _leaf(item: Any, kind: Any, room: int, limit: int) -> Any:
    """The whole frame of a value that holds no others; None for a container. Long ones are refused before the copy."""
    if kind is _int:
        if _bit_length(item) > 4 * room:
            raise TooLarge("bytes", limit)
        digits = b"%x" % item
        return b"i%d:%b" % (_len(digits), digits)
    if kind is _str:
        if _len(item) > room:
            raise TooLarge("bytes", limit)
        text = _encode_str(item, "utf-8", "surrogatepass")
        return b"s%d:%b" % (_len(text), text)
    if kind is _list or kind is _tuple or kind is _dict:
        return None
    if kind is _float:
        return b"f" + _double.pack(item)
    if kind is _bool:
        return b"T" if item else b"F"
    if item is None:
        return b"N"
    if kind is _set or kind is _frozenset:
        return None
    if kind is _bytes:
        if _len(item) > room:
            raise TooLarge("bytes", limit)
        return b"b%d:%b" % (_len(item), item)
    name = item.type_name if kind is Opaque else _qualname(kind)
    # A qualified name may be an instance of a guest's subclass of str, so only str's own methods touch it.
    text = _encode_str(_cut(name, _slice(0, MAX_TYPE_NAME)), "utf-8", "surrogatepass")
    return b"o%d:%b" % (_len(text), text)


def decode(data: bytes, max_bytes: int = MAX_BYTES, max_nodes: int = MAX_NODES, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a frame. Raises BadFrame, never anything else, whatever the bytes are."""
    end = _len(data)
    if end > max_bytes:
        raise BadFrame(f"{end} bytes where {max_bytes} are allowed", 0)
    pos = 0
    nodes = max_nodes - 1
    stack: list[tuple[int, int, int, list[Any]]] = []
    while True:
        if pos >= end:
            raise BadFrame("the frame ends too early", end)
        tag = data[pos]
        start = pos
        if tag in _OPENERS:
            count, pos = _number(data, pos + 1, end)
            if count > MAX_MEMBERS and tag not in b"lt":
                raise BadFrame(f"{_OPENERS[tag]} with more than {MAX_MEMBERS} members", start)
            count = count * 2 if tag == 100 else count
            if count > end - pos:
                raise BadFrame(f"{_OPENERS[tag]} with more members than the frame has bytes", start)
            nodes -= count
            if nodes < 0:
                raise BadFrame(f"more than {max_nodes} values", start)
            if _len(stack) >= max_depth:
                raise BadFrame(f"nested deeper than {max_depth}", start)
            if count:
                stack.append((tag, count, start, []))
                continue
            value: Any = _build(tag, [], start)
        else:
            value, pos = _read_leaf(data, tag, pos, end)
        while stack:
            tag, count, start, items = stack[-1]
            items.append(value)
            if _len(items) < count:
                break
            stack.pop()
            value = _build(tag, items, start)
        else:
            break
    if pos != end:
        raise BadFrame("trailing bytes", pos)
    return value


def _number(data: bytes, pos: int, end: int) -> tuple[int, int]:
    """A decimal number and the position behind its colon."""
    stop = data.find(b":", pos, min(pos + 16, end))
    digits = data[pos:stop] if stop > 0 else b""
    if not digits.isdigit() or (digits[0] == 48 and _len(digits) > 1):
        raise BadFrame("no length", pos)
    return _int(digits), stop + 1


def _read_leaf(data: bytes, tag: int, pos: int, end: int) -> tuple[Any, int]:
    """A value that holds no others and the position behind it."""
    if tag in _TEXTS:
        size, body = _number(data, pos + 1, end)
        if size > end - body:
            raise BadFrame(f"{_TEXTS[tag]} longer than the frame", pos)
        raw = data[body : body + size]
        if tag == 98:
            return raw, body + size
        if tag == 105:
            return _read_int(raw, pos), body + size
        try:
            text = raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise BadFrame("text that is not UTF-8", body) from None
        if tag == 115:
            return text, body + size
        if _len(text) > MAX_TYPE_NAME:
            raise BadFrame(f"type name longer than {MAX_TYPE_NAME}", pos)
        return Opaque(text), body + size
    if tag == 102:
        if end - pos < 9:
            raise BadFrame("float cut short", pos)
        return _double.unpack_from(data, pos + 1)[0], pos + 9
    if tag == 78:
        return None, pos + 1
    if tag in (84, 70):
        return tag == 84, pos + 1
    raise BadFrame(f"unknown tag {data[pos : pos + 1]!r}", pos)


def _read_int(raw: bytes, pos: int) -> int:
    # int() also takes blanks, underscores, 0x and leading zeros; writing it back refuses all of them in linear time.
    try:
        number = _int(raw, 16)
    except _ValueError:
        raise BadFrame("int that is not hexadecimal", pos) from None
    if b"%x" % number != raw:
        raise BadFrame("int that is not in its shortest form", pos)
    return number


def _build(tag: int, items: list[Any], start: int) -> Any:
    """The finished container of a tag."""
    if tag == 108:
        return items
    if tag == 116:
        return _tuple(items)
    keys = items[::2] if tag == 100 else items
    check_hashes(keys, _OPENERS[tag], start)
    built: Any
    if tag == 100:
        built = _dict(zip(keys, items[1::2]))  # noqa: B905 (Python 3.8 has no strict)
    elif tag == 83:
        built = _set(keys)
    else:
        built = _frozenset(keys)
    if _len(built) != _len(keys):
        raise BadFrame(f"{_OPENERS[tag]} with equal members", start)
    return built


def check_hashes(keys: list[Any], name: str, start: int) -> None:
    """Refuse unhashable keys, and floods of equal hashes, which would make the hash table quadratic.

    Honest keys share few hashes (hash(-1) is hash(-2), so small grids of points do): the bound is on the comparisons.
    """
    try:
        hashes = _list(_map(_hash, keys))
    except _TypeError:
        raise BadFrame(f"{name} with an unhashable member", start) from None
    if _len(_set(hashes)) == _len(hashes):
        return
    if sum(times * times for times in Counter(hashes).values()) > 4 * _len(hashes) + 1024:
        raise BadFrame(f"{name} with too many members of equal hash", start)
