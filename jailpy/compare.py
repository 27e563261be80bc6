"""Is this output, or this value, the expected one? Pure functions on bytes and on plain values.

The answer is None for equal, else one line for a person: ASCII only, at most 300 characters.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any, TypeVar

from jailpy import difference
from jailpy.canonical import MAX_DEPTH, Canonical, order
from jailpy.difference import excerpt, same_prefix
from jailpy.errors import UsageError
from jailpy.guest.values import Opaque

_BLANKS = b" \t\r\v\f"
# No two repeats side by side match the same digit: a long token must not cost its square.
_INTEGER = re.compile(rb"([+-]?)([0-9]+)")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(rb"([+-]?)(?:inf(?:inity)?|(nan))", re.IGNORECASE)

_How = TypeVar("_How", "TextCompare", "ValueCompare")


@dataclass(frozen=True, slots=True)
class TextCompare:
    """How bytes on stdout are compared. No mode decodes them: bad UTF-8, a BOM, zero-width characters and no-break
    spaces are bytes like all others and count.

    trim             line by line; blanks (space, tab, CR, VT, FF) at line ends and blank lines at the end do not count,
                     so CRLF is LF and the last newline may be missing. Blanks in front and between do count, and NUL
                     is no blank. A CR alone ends no line.
    exact            every byte counts.
    tokens           the words between white space (blanks and LF), in order; how much white space does not count.
    float            tokens; two numbers may differ by the larger of `abs` and `rel` times the expected one. Two
                     integer tokens are compared exactly, however long (`007` is 7, `-0` is 0). inf equals only inf of
                     the same sign, nan only nan. A literal too large for a double equals only itself. Tokens that
                     are no decimal numbers (`0x10`, `1_0`, `1,5`) are compared as bytes.
    lines_any_order  lines as in trim, in any order, each as often as expected.

    case_sensitive   False: the letters A to Z equal a to z, in every mode but exact. Problem packages of Kattis compare
                     so unless they say otherwise (default output validator of their problem package format).
    """

    mode: str = "trim"
    abs: float = 1e-6
    rel: float = 1e-6
    case_sensitive: bool = True

    def __post_init__(self) -> None:
        _check_common("compare", self, TEXT_MODES)
        if self.mode == "exact" and not self.case_sensitive:
            raise UsageError("compare.case_sensitive", "in mode exact every byte counts; choose another mode")

    @classmethod
    def parse(cls, spec: object, field: str) -> TextCompare:
        """From a mode, an object {"mode": ..., "abs": ..., "rel": ...}, or None for the default."""
        return _parse(cls, spec, field, TEXT_MODES)


@dataclass(frozen=True, slots=True)
class ValueCompare:
    """How plain values are compared. An opaque value (a generator, an object of a class) equals nothing.

    value  Python's ==, with list = tuple at any depth; 1 == 1.0 == True, -0.0 == 0 and set == frozenset as in Python,
           1 != "1", "a" != b"a". Ints of any size are exact, also against floats. nan equals nothing, also not itself.
           Keys have no order. Members of sets and keys of dicts that are tuples or frozensets nested over 50 deep
           equal nothing.
    float  as value, but where a float meets a number they may differ by the larger of `abs` and `rel` times the
           expected one; two ints are compared exactly. inf equals inf only. Numbers that are members of sets or keys
           of dicts are paired in order of size; inside larger keys and members (tuples) all is exact.

    nan_equal      nan equals nan, also in keys and members.
    strict_types   the types must be the same at every depth: 1, 1.0 and True differ, and so do list and tuple.
    one_item_list  also equal when the expected value is a list of one item and the value equals that item (the form
                   of some APPS rows, which wrap every expected value).
    unordered      items of lists and tuples may stand in any order, each as often as expected: True or 1 for the
                   outermost, 2 for the lists in it too, and so on; dicts count as a level. Items nested over 50 deep
                   equal nothing. In mode float, items that are not equal exactly are paired in order of size.
    """

    mode: str = "value"
    abs: float = 1e-6
    rel: float = 1e-6
    nan_equal: bool = False
    strict_types: bool = False
    one_item_list: bool = False
    unordered: int = 0

    def __post_init__(self) -> None:
        _check_common("compare", self, VALUE_MODES)
        if not 0 <= self.unordered <= MAX_DEPTH:
            raise UsageError("compare.unordered", f"{self.unordered} levels; there are 0 to {MAX_DEPTH}")
        object.__setattr__(self, "unordered", int(self.unordered))

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
        return _first_difference(how, "line", _lines(got), _lines(expected))
    if how.mode == "lines_any_order":
        return _multiset_difference(how, _lines(got), _lines(expected))
    return _first_difference(how, "token", got.split(), expected.split(), got)


def _lines(data: bytes) -> list[bytes]:
    body = data.rstrip(_BLANKS + b"\n")
    return [line.rstrip(_BLANKS) for line in body.split(b"\n")] if body else []


def _exact_difference(got: bytes, expected: bytes) -> str:
    at = same_prefix(got, expected)
    place = f"line {got.count(10, 0, at) + 1}, column {at - got.rfind(10, 0, at)} (byte {at + 1})"
    return difference.line(place, excerpt(got, at), excerpt(expected, at), difference.hint(got, expected))


def _first_difference(
    how: TextCompare, unit: str, got: list[bytes], expected: list[bytes], output: bytes = b""
) -> str | None:
    for index, (mine, right) in enumerate(zip(got, expected, strict=False)):
        if mine != right and not _equal_texts(how, mine, right):
            at = same_prefix(mine, right)
            place = f"line {index + 1}, column {at + 1}" if unit == "line" else _token_place(output, index)
            hint = _numbers_hint(mine, right) if how.mode == "float" else ""
            return difference.line(place, excerpt(mine, at), excerpt(right, at), hint or difference.hint(mine, right))
    if len(got) == len(expected):
        return None
    index = min(len(got), len(expected))
    place = f"line {index + 1}" if unit == "line" else _token_place(output, index)
    mine_text = excerpt(got[index]) if index < len(got) else "nothing more" if got else "no output"
    right_text = excerpt(expected[index]) if index < len(expected) else "nothing more" if expected else "no output"
    return difference.line(place, mine_text, right_text, _counts(unit, got, expected))


def _counts(unit: str, got: Sequence[bytes], expected: Sequence[bytes]) -> str:
    return f" ({len(got)} {unit}{'' if len(got) == 1 else 's'}, expected {len(expected)})"


def _token_place(output: bytes, index: int) -> str:
    """`token 5 (line 2)`: the token of that index, or where it would be."""
    place, left = f"token {index + 1}", index
    for number, text in enumerate(output.split(b"\n"), 1):
        left -= len(text.split())
        if left < 0:
            return f"{place} (line {number})"
    return place


def _multiset_difference(how: TextCompare, got: list[bytes], expected: list[bytes]) -> str | None:
    fold = (lambda line: line) if how.case_sensitive else bytes.lower
    mine, right = Counter(map(fold, got)), Counter(map(fold, expected))
    if mine == right:
        return None
    extra = next((excerpt(line) for line in got if mine[fold(line)] > right[fold(line)]), "no other line")
    missing = next((excerpt(line) for line in expected if right[fold(line)] > mine[fold(line)]), "no other line")
    return difference.line("lines in any order", extra, missing, _counts("line", got, expected))


def _equal_texts(how: TextCompare, got: bytes, expected: bytes) -> bool:
    if not how.case_sensitive and got.lower() == expected.lower():
        return True
    return how.mode == "float" and _number_tokens(how, got, expected)


def _numbers_hint(got: bytes, expected: bytes) -> str:
    if not _DECIMAL.fullmatch(got) or not _DECIMAL.fullmatch(expected):
        return ""
    number, right = float(got), float(expected)
    return difference.off_by(number, right) if math.isfinite(number - right) and number != right else ""


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
            children = _children(how, mine, right, how.unordered - len(path))
            if isinstance(children, str):
                return _describe(how, children, [*path, label][1:], mine, right)
            if children is not None:
                path.append(label)
                stack.append(children)
                break
        else:
            stack.pop()
            if path:
                path.pop()
    return None


def _describe(how: ValueCompare, problem: str, labels: list[Any], mine: Any, right: Any) -> str:
    """The line about two values; `problem` says in what they differ."""
    place = difference.place(labels)
    if problem == "length":
        hint = _first_unequal(how, mine, right)
        return difference.line(place, _sized(mine), _sized(right), hint)
    if problem == "members":
        return _members_line(how, place, mine, right)
    if type(mine) is type(right) and type(mine) in (str, bytes):
        at = same_prefix(mine, right)
        where = f"{place}, {'character' if type(mine) is str else 'byte'} {at + 1}"
        return difference.line(where, excerpt(mine, at), excerpt(right, at), difference.hint(mine, right))
    shown, wanted = difference.show(mine), difference.show(right)
    numbers = type(mine) in _NUMBERS and type(right) in _NUMBERS
    if shown == wanted or problem == "type" or (type(mine) is not type(right) and not numbers):
        return difference.line(place, difference.typed(mine), difference.typed(right))
    close = how.mode == "float" and numbers and float in (type(mine), type(right))
    return difference.line(place, shown, wanted, _gap(mine, right) if close else "")


def _gap(got: Any, expected: Any) -> str:
    try:
        gap = float(got) - float(expected)
    except OverflowError:
        return ""
    return difference.off_by(float(got), float(expected)) if math.isfinite(gap) and gap else ""


def _sized(value: Any) -> str:
    return f"{difference.show(value)} of {len(value)}"


def _first_unequal(how: ValueCompare, got: Any, expected: Any) -> str:
    """Where two sequences of different length begin to differ."""
    if type(got) not in (list, tuple) or how.unordered:
        return ""
    pairs = enumerate(zip(got, expected, strict=False))
    at = next((at for at, (mine, right) in pairs if _compare_trees(how, mine, right) is not None), None)
    return "" if at is None else f" (the first difference is at [{at}])"


def _members_line(how: ValueCompare, place: str, got: Any, expected: Any) -> str:
    """The first member or key of each side that the other side has not."""
    noun = "key" if type(got) is dict else "item" if type(got) in (list, tuple) else "member"
    mine, right = _by_key(how, got, how.unordered), _by_key(how, expected, how.unordered)
    extra = next((f"{noun} {difference.typed(member)}" for key, member in mine.items() if key not in right), "")
    missing = next((f"{noun} {difference.typed(member)}" for key, member in right.items() if key not in mine), "")
    return difference.line(place, extra or f"no other {noun}", missing or f"no other {noun}")


def _children(
    how: ValueCompare, got: Any, expected: Any, unordered: int
) -> Iterator[tuple[Any, Any, Any]] | str | None:
    """None: equal. A str: what differs. An iterator of (label, got, expected): equal when all of these are."""
    kind, right = type(got), type(expected)
    if Opaque in (kind, right) or (how.strict_types and kind is not right):
        return "type"
    if right is list or right is tuple:
        if kind is not list and kind is not tuple:
            return "type"
        if len(got) != len(expected):
            return "length"
        if unordered > 0:
            return _pair_items(how, got, expected, unordered)
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
    if not how.strict_types and _HASHED_AS_THEY_ARE.issuperset(map(type, chain(got, expected))):
        mine: dict[Any, Any] = dict(zip(got, got, strict=True))
        right: dict[Any, Any] = dict(zip(expected, expected, strict=True))
    else:
        mine, right = _by_key(how, got), _by_key(how, expected)
    pairs = [(mine.pop(key), right.pop(key)) for key in list(right) if key in mine]
    spare, left = list(mine.values()), list(right.values())
    if not left:
        return None if spare else pairs
    if how.mode != "float" or len(spare) != len(left):
        return None
    if any(type(key) not in _NUMBERS or _is_nan(key) for key in (*spare, *left)):
        return None
    rest = list(zip(sorted(spare), sorted(left), strict=True))
    return pairs + rest if all(_scalars_equal(how, a, b) for a, b in rest) else None


def _pair_items(how: ValueCompare, got: Any, expected: Any, unordered: int) -> Iterator[tuple[Any, Any, Any]] | str | None:
    """As `_children`, for items whose order does not count. Labels are places in `expected`."""
    mine, right = _by_key(how, got, unordered), _by_key(how, expected, unordered)
    common = mine.keys() & right.keys()
    spare = [item for key, item in mine.items() if key not in common]
    left = [(at, item) for at, (key, item) in enumerate(right.items()) if key not in common]
    if not left:
        return None
    if how.mode != "float":
        return "members"
    spare.sort(key=lambda item: order(item, unordered - 1))
    left.sort(key=lambda pair: order(pair[1], unordered - 1))
    return iter([(at, item, wanted) for item, (at, wanted) in zip(spare, left, strict=True)])


def _by_key(how: ValueCompare, members: Any, unordered: int = 0) -> dict[Any, Any]:
    """Members by what is equal exactly when they count as equal; the second of two equal ones has a key of its own."""
    table: dict[Any, Any] = {}
    times: Counter[bytes] = Counter()
    rule = Canonical(how.nan_equal, how.strict_types)
    for member in members:
        key = rule.of(member, unordered - 1)
        if key is None:
            table[object()] = member
        else:
            times[key] += 1
            table[key, times[key]] = member
    return table


def _check_common(field: str, how: TextCompare | ValueCompare, modes: tuple[str, ...]) -> None:
    if how.mode not in modes:
        raise UsageError(f"{field}.mode", f"{how.mode!r} is no mode; choose from {', '.join(modes)}")
    for spec in fields(how):
        value = getattr(how, spec.name)
        if spec.type == "bool" and not isinstance(value, bool):
            raise UsageError(f"{field}.{spec.name}", f"{value!r} must be true or false")
        if spec.type == "int" and not isinstance(value, int):
            raise UsageError(f"{field}.{spec.name}", f"{value!r} must be true, false or a number of levels")
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
