"""Is this output, or this value, the expected one? Pure functions on bytes and on plain values.

The answer is None for equal, else one line for a person: ASCII only, at most 300 characters.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any, TypeVar

from jailpy.errors import UsageError
from jailpy.guest.values import Opaque

_MAX_LINE = 300
_MAX_EXCERPT = 100
_BLANKS = b" \t\r\v\f"
# No two repeats side by side match the same digit: a long token must not cost its square.
_INTEGER = re.compile(rb"([+-]?)([0-9]+)")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(rb"([+-]?)(?:inf(?:inity)?|(nan))", re.IGNORECASE)

_How = TypeVar("_How", "TextCompare", "ValueCompare")


@dataclass(frozen=True, slots=True)
class TextCompare:
    """How bytes on stdout are compared. No mode decodes them: bad UTF-8 is a wrong answer like any other.

    trim             line by line; blanks (space, tab, CR, VT, FF) at line ends and blank lines at the end do not count,
                     so CRLF is LF and the last newline may be missing. Blanks in front and between do count, and NUL
                     is no blank.
    exact            every byte counts.
    tokens           the words between white space, in order; how much white space does not count.
    float            tokens; two numbers may differ by the larger of `abs` and `rel` times the expected one. Two
                     integer tokens are compared exactly, however long (`007` is 7, `-0` is 0). inf equals only inf of
                     the same sign, nan only nan. A literal too large for a double equals only itself. Tokens that
                     are no numbers are compared as bytes.
    lines_any_order  lines as in trim, in any order, each as often as expected.
    """

    mode: str = "trim"
    abs: float = 1e-6
    rel: float = 1e-6

    def __post_init__(self) -> None:
        _check_common("compare", self, TEXT_MODES)

    @classmethod
    def parse(cls, spec: object, field: str) -> TextCompare:
        """From a mode, an object {"mode": ..., "abs": ..., "rel": ...}, or None for the default."""
        return _parse(cls, spec, field, TEXT_MODES)


@dataclass(frozen=True, slots=True)
class ValueCompare:
    """How plain values are compared. An opaque value (a generator, an object of a class) equals nothing.

    value  Python's ==, with list = tuple at any depth; 1 == 1.0 == True and set == frozenset as in Python, 1 != "1".
           nan equals nothing, also not itself.
    float  as value, but where a float meets a number they may differ by the larger of `abs` and `rel` times the
           expected one; two ints are compared exactly. Numbers that are members of sets or keys of dicts are paired in
           order of size; inside larger keys and members (tuples) all is exact. Those nested over 50 deep equal nothing.

    nan_equal      nan equals nan, also in keys and members.
    strict_types   the types must be the same at every depth: 1, 1.0 and True differ, and so do list and tuple.
    one_item_list  also equal when the expected value is a list of one item and the value equals that item (the form
                   of some APPS rows, which wrap every expected value).
    """

    mode: str = "value"
    abs: float = 1e-6
    rel: float = 1e-6
    nan_equal: bool = False
    strict_types: bool = False
    one_item_list: bool = False

    def __post_init__(self) -> None:
        _check_common("compare", self, VALUE_MODES)

    @classmethod
    def parse(cls, spec: object, field: str) -> ValueCompare:
        """From a mode, an object {"mode": ..., "abs": ..., "nan_equal": ..., ...}, or None for the default."""
        return _parse(cls, spec, field, VALUE_MODES)


TEXT_MODES = ("trim", "exact", "tokens", "float", "lines_any_order")
VALUE_MODES = ("value", "float")


def compare_text(how: TextCompare, got: bytes, expected: bytes) -> str | None:
    """None when `got` is the expected output, else the first difference in one line."""
    if got == expected:
        return None
    if how.mode == "exact":
        return _exact_difference(got, expected)
    if how.mode == "trim":
        return _first_difference("line", _lines(got), _lines(expected))
    if how.mode == "lines_any_order":
        return _multiset_difference(_lines(got), _lines(expected))
    return _first_difference("token", got.split(), expected.split(), how if how.mode == "float" else None)


def _lines(data: bytes) -> list[bytes]:
    body = data.rstrip(_BLANKS + b"\n")
    return [line.rstrip(_BLANKS) for line in body.split(b"\n")] if body else []


def _same_prefix(got: bytes, expected: bytes) -> int:
    low, high = 0, min(len(got), len(expected))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if got[low:middle] == expected[low:middle] else (low, middle - 1)
    return low


def _exact_difference(got: bytes, expected: bytes) -> str:
    at = _same_prefix(got, expected)
    return _line(f"byte {at + 1} (line {got.count(10, 0, at) + 1})", _bytes(got, at), _bytes(expected, at))


def _first_difference(unit: str, got: list[bytes], expected: list[bytes], how: TextCompare | None = None) -> str | None:
    for index, (mine, right) in enumerate(zip(got, expected, strict=False)):
        if mine != right and not (how is not None and _number_tokens(how, mine, right)):
            at = _same_prefix(mine, right)
            return _line(f"{unit} {index + 1}", _bytes(mine, at), _bytes(right, at))
    if len(got) == len(expected):
        return None
    index = min(len(got), len(expected))
    mine_text = _bytes(got[index]) if index < len(got) else "the end"
    right_text = _bytes(expected[index]) if index < len(expected) else "the end"
    return _line(f"{unit} {index + 1} ({len(got)} {unit}s, expected {len(expected)})", mine_text, right_text)


def _multiset_difference(got: list[bytes], expected: list[bytes]) -> str | None:
    mine, right = Counter(got), Counter(expected)
    if mine == right:
        return None
    extra = next((_bytes(line) for line in got if mine[line] > right[line]), "no other line")
    missing = next((_bytes(line) for line in expected if right[line] > mine[line]), "no other line")
    return _line(f"in any order ({len(got)} lines, expected {len(expected)})", extra, missing)


def _number_tokens(how: TextCompare, got: bytes, expected: bytes) -> bool:
    """Two tokens as numbers; False when one is none."""
    whole, right_whole = _INTEGER.fullmatch(got), _INTEGER.fullmatch(expected)
    if whole and right_whole:
        digits = whole[2].lstrip(b"0")
        same_sign = (whole[1] == b"-") == (right_whole[1] == b"-")
        return digits == right_whole[2].lstrip(b"0") and (same_sign or not digits)
    special, right_special = _SPECIAL.fullmatch(got), _SPECIAL.fullmatch(expected)
    if special or right_special:
        if not (special and right_special) or bool(special[2]) != bool(right_special[2]):
            return False
        return bool(special[2]) or (special[1] == b"-") == (right_special[1] == b"-")
    if not _DECIMAL.fullmatch(got) or not _DECIMAL.fullmatch(expected):
        return False
    number, right = float(got), float(expected)
    return math.isfinite(number) and math.isfinite(right) and _close(how, number, right)


def _close(how: TextCompare | ValueCompare, got: float, expected: float) -> bool:
    """Within tolerance; neither is nan. inf is close to itself only."""
    if got == expected:
        return True
    gap = abs(got - expected)
    return math.isfinite(gap) and gap <= max(how.abs, how.rel * abs(expected))


def compare_value(how: ValueCompare, got: Any, expected: Any) -> str | None:
    """None when `got` is the expected value, else the first difference and its place; both of plain values, Opaque."""
    problem = _compare_trees(how, got, expected)
    if problem is not None and how.one_item_list and type(expected) is list and len(expected) == 1:
        return problem if _compare_trees(how, got, expected[0]) is not None else None
    return problem


def _compare_trees(how: ValueCompare, got: Any, expected: Any) -> str | None:
    path: list[Any] = []
    stack: list[Iterator[tuple[Any, Any, Any]]] = [iter(((None, got, expected),))]
    while stack:
        for label, mine, right in stack[-1]:
            children = _children(how, mine, right)
            if isinstance(children, str):
                return _line(_place([*path, label][1:]), *_two(children, mine, right))
            if children is not None:
                path.append(label)
                stack.append(children)
                break
        else:
            stack.pop()
            if path:
                path.pop()
    return None


def _two(problem: str, mine: Any, right: Any) -> tuple[str, str]:
    """What to show for the two sides: their sizes or types too when those are what differs."""
    shown, wanted = _show(mine), _show(right)
    if problem == "length":
        return f"{shown} of {len(mine)}", f"{wanted} of {len(right)}"
    if problem == "members":
        extra = [_show(member) for member in mine if member not in right][:1]
        missing = [_show(member) for member in right if member not in mine][:1]
        if extra and missing:
            return f"member {extra[0]}", f"member {missing[0]}"
    if Opaque not in (type(mine), type(right)) and (problem == "type" or shown == wanted):
        return f"{type(mine).__name__} {shown}", f"{type(right).__name__} {wanted}"
    return shown, wanted


def _children(how: ValueCompare, got: Any, expected: Any) -> Iterator[tuple[Any, Any, Any]] | str | None:
    """None: equal. A str: what differs. An iterator of (label, got, expected): equal when all of these are."""
    kind, right = type(got), type(expected)
    if Opaque in (kind, right) or (how.strict_types and kind is not right):
        return "type"
    if right is list or right is tuple:
        if kind is not list and kind is not tuple:
            return "type"
        if len(got) != len(expected):
            return "length"
        return zip(range(len(got)), got, expected, strict=True)
    if right is dict:
        if kind is not dict:
            return "type"
        pairs = _pair_members(how, got, expected)
        if pairs is None:
            return "length" if len(got) != len(expected) else "members"
        return ((key, got[mine], expected[key]) for mine, key in pairs)
    if right is set or right is frozenset:
        if kind is not set and kind is not frozenset:
            return "type"
        if _pair_members(how, got, expected) is None:
            return "length" if len(got) != len(expected) else "members"
        return None
    return None if _scalars_equal(how, got, expected) else "value"


def _scalars_equal(how: ValueCompare, got: Any, expected: Any) -> bool:
    kind, right = type(got), type(expected)
    if how.strict_types and kind is not right:
        return False
    if kind in _NUMBERS and right in _NUMBERS:
        if kind is not float and right is not float:
            return bool(got == expected)
        if _is_nan(got) or _is_nan(expected):
            return how.nan_equal and _is_nan(got) and _is_nan(expected)
        if how.mode != "float":
            return bool(got == expected)
        try:
            return _close(how, float(got), float(expected))
        except OverflowError:
            return bool(got == expected)
    # Never `"a" == b"a"`, which python -bb turns into an exception.
    return kind is right and bool(got == expected)


def _is_nan(value: Any) -> bool:
    return type(value) is float and math.isnan(value)


_NUMBERS = frozenset((bool, int, float))
_HASHED_AS_THEY_ARE = frozenset((str, int, bool, type(None)))


def _pair_members(how: ValueCompare, got: Any, expected: Any) -> list[tuple[Any, Any]] | None:
    """(member of got, member of expected) for each, or None when they cannot all be paired."""
    if len(got) != len(expected):
        return None
    as_they_are = not how.strict_types and _HASHED_AS_THEY_ARE.issuperset(map(type, chain(got, expected)))
    mine = _by_token(how, got, as_they_are)
    pairs: list[tuple[Any, Any]] = []
    left: list[Any] = []
    for token, key in _by_token(how, expected, as_they_are).items():
        if token in mine:
            pairs.append((mine.pop(token), key))
        else:
            left.append(key)
    if not left:
        return None if mine else pairs
    spare = list(mine.values())
    if how.mode != "float" or len(spare) != len(left):
        return None
    if any(type(key) not in _NUMBERS or _is_nan(key) for key in (*spare, *left)):
        return None
    rest = list(zip(sorted(spare), sorted(left), strict=True))
    return pairs + rest if all(_scalars_equal(how, a, b) for a, b in rest) else None


def _by_token(how: ValueCompare, members: Any, as_they_are: bool) -> dict[Any, Any]:
    """Members by stand-ins that are equal exactly when the members count as equal."""
    if as_they_are:
        return dict(zip(members, members, strict=True))
    table: dict[Any, Any] = {}
    times: Counter[Any] = Counter()
    for member in members:
        token = _token(how, member)
        times[token] += 1  # nan and nan are two members and may have one token
        table[token, times[token]] = member
    return table


def _token(how: ValueCompare, member: Any, depth: int = 0) -> Any:
    kind = type(member)
    token: Any = member
    if kind is Opaque or depth > _MAX_KEY_DEPTH:
        token = object()
    elif _is_nan(member):
        token = _NAN if how.nan_equal else object()
    elif kind is tuple:
        token = tuple([_token(how, item, depth + 1) for item in member])
    elif kind is frozenset:
        token = frozenset(Counter([_token(how, item, depth + 1) for item in member]).items())
    elif kind is bytes:
        token = (bytes, member.hex())
    return (kind, token) if how.strict_types else token


_NAN = object()
_MAX_KEY_DEPTH = 50


def _bytes(data: bytes, at: int = 0) -> str:
    """An escaped excerpt of at most _MAX_EXCERPT characters around byte `at`."""
    start = max(0, at - 12) if at > 20 else 0
    text = repr(data[start : start + _MAX_EXCERPT])[1:]
    if len(text) > _MAX_EXCERPT - 6 or len(data) > start + _MAX_EXCERPT:
        text = text[: _MAX_EXCERPT - 6] + "..."
    return "..." + text if start else text


def _show(value: Any, depth: int = 2) -> str:
    """A plain value as a Python-like literal, cut to _MAX_EXCERPT characters, at a cost that does not grow with it."""
    kind = type(value)
    if kind is Opaque:
        text = ascii(value.type_name)[1:-1] + " object"
    elif kind is int and value.bit_length() > 256:
        text = f"an int of {value.bit_length()} bits"
    elif kind is str or kind is bytes:
        text = ascii(value[:_MAX_EXCERPT])
    elif kind in _BRACKETS:
        first = [item for item, _ in zip(value, range(4 if depth else 0), strict=False)]
        parts = [_show(k, depth - 1) + (": " + _show(value[k], depth - 1) if kind is dict else "") for k in first]
        more = ["..."] if len(value) > len(first) else []
        text = _BRACKETS[kind][0] + ", ".join(parts + more) + _BRACKETS[kind][1]
    else:
        text = ascii(value)
    return text if len(text) <= _MAX_EXCERPT else text[: _MAX_EXCERPT - 3] + "..."


_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", dict: "{}", set: "{}", frozenset: "{}"}


def _place(labels: list[Any]) -> str:
    """`value[0]['key']`, its middle cut when it is long."""
    shown = ["[" + _show(label, 1)[:24] + "]" for label in labels[:2] + labels[2:][-2:]]
    return "".join(["value", *shown[:2], "..." if len(labels) > 4 else "", *shown[2:]])


def _line(place: str, got: str, expected: str) -> str:
    text = f"{place}: got {got}, expected {expected}"
    return text if len(text) <= _MAX_LINE else text[: _MAX_LINE - 3] + "..."


def _check_common(field: str, how: TextCompare | ValueCompare, modes: tuple[str, ...]) -> None:
    if how.mode not in modes:
        raise UsageError(f"{field}.mode", f"{how.mode!r} is no mode; choose from {', '.join(modes)}")
    for spec in fields(how):
        value = getattr(how, spec.name)
        if spec.type == "bool" and not isinstance(value, bool):
            raise UsageError(f"{field}.{spec.name}", f"{value!r} must be true or false")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if spec.type == "float" and not (number and 0 <= value <= sys.float_info.max):
            raise UsageError(f"{field}.{spec.name}", f"{value!r} must be a finite number of at least 0")


def _parse(cls: type[_How], spec: object, field: str, modes: tuple[str, ...]) -> _How:
    if spec is None:
        return cls()
    if isinstance(spec, cls):
        return spec
    if not isinstance(spec, (str, dict)):
        raise UsageError(field, f"must be one of {', '.join(modes)}, or an object with a mode")
    given: dict[str, Any] = {"mode": spec} if isinstance(spec, str) else dict(spec)
    known = [item.name for item in fields(cls)]
    for key in given:
        if key not in known:
            raise UsageError(f"{field}.{key}", f"is no option; choose from {', '.join(known)}")
    # A tolerance alone says which mode is meant; beside another mode it would be silently without effect.
    if given.keys() & {"abs", "rel"} and given.setdefault("mode", "float") != "float":
        raise UsageError(field, f"abs and rel belong to mode float, not to {given['mode']!r}")
    try:
        return cls(**given)
    except UsageError as error:
        raise UsageError(error.field.replace("compare", field, 1), error.problem) from None
