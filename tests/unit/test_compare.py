"""The comparators: every mode's edge cases, and one bounded line for every difference."""

from __future__ import annotations

import copy
import json
import math
import pickle
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jailpy.compare import TEXT_MODES, TextCompare, ValueCompare, compare_text, compare_value
from jailpy.errors import UsageError
from jailpy.guest.values import Opaque, decode, encode

NAN = math.nan
bytes_like = st.binary(max_size=40) | st.text(" \t\r\n\0ab01.-e", max_size=40).map(str.encode)
keys = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=2) | st.binary(max_size=2)
hashable = st.recursive(keys, lambda inner: st.tuples(inner) | st.frozensets(inner, max_size=2), max_leaves=4)
plain = st.recursive(
    hashable | st.integers() | st.builds(Opaque, st.text(max_size=3)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.sets(hashable, max_size=3)
    ),
    max_leaves=10,
)
value_hows = st.builds(
    ValueCompare,
    mode=st.sampled_from(["value", "float"]),
    nan_equal=st.booleans(),
    strict_types=st.booleans(),
    one_item_list=st.booleans(),
)


def text(mode: str, got: bytes, expected: bytes, **options: float) -> bool:
    return checked(compare_text(TextCompare(mode, **options), got, expected)) is None


def value(got: Any, expected: Any, **options: Any) -> bool:
    return checked(compare_value(ValueCompare(**options), got, expected)) is None


def checked(line: str | None) -> str | None:
    if line is not None:
        assert 0 < len(line) <= 300
        assert line.isascii()
        assert line.isprintable()
        json.dumps(line)
    return line


@pytest.mark.parametrize(
    ("mode", "got", "expected", "equal"),
    [
        ("trim", b"7", b"7\n", True),
        ("trim", b"7 \t\r\n\n \n", b"7", True),
        ("trim", b"a\r\nb\r\n", b"a\nb\n", True),
        ("trim", b"", b"\n\n", True),
        ("trim", b" 7", b"7", False),
        ("trim", b"\n7", b"7", False),
        ("trim", b"a\n\nb", b"a\nb", False),
        ("trim", b"a  b", b"a b", False),
        ("trim", b"a\rb", b"a\nb", False),
        ("trim", b"42\n\0\0", b"42\n", False),
        ("trim", b"42\0", b"42", False),
        ("trim", b"\x8d\xff\xfe\n", b"42\n", False),
        ("trim", b"\xff\n", b"\xff", True),
        ("trim", b"7\xa0", b"7", False),
        ("trim", b"", b"7", False),
        ("exact", b"7\n", b"7\n", True),
        ("exact", b"7", b"7\n", False),
        ("exact", b"7\r\n", b"7\n", False),
        ("tokens", b"\n\n  Hello,      World!   \n", b"Hello, World!\n", True),
        ("tokens", b"ab", b"a b", False),
        ("tokens", b"a\0b", b"a b", False),
        ("tokens", b"a", b"a b", False),
        ("tokens", b"1.0", b"1", False),
        ("lines_any_order", b"b\na \n", b"a\nb", True),
        ("lines_any_order", b"a\na\nb", b"a\nb\nb", False),
        ("lines_any_order", b"a\n\nb", b"a\nb\n", False),
        ("lines_any_order", b"\na", b"a\n", False),
        ("lines_any_order", b"a", b"a\nb", False),
    ],
)
def test_text_modes(mode: str, got: bytes, expected: bytes, equal: bool) -> None:
    assert text(mode, got, expected) is equal


@pytest.mark.parametrize(
    ("got", "expected", "equal"),
    [
        (b"3.142", b"3.1415926", True),
        (b"3.14", b"3.1415926", False),
        (b"nan", b"0.5", False),
        (b"0.5", b"nan", False),
        (b"NaN", b"nan", True),
        (b"nan", b"inf", False),
        (b"inf", b"Infinity", True),
        (b"+inf", b"inf", True),
        (b"-inf", b"inf", False),
        (b"inf", b"1e308", False),
        (b"1e308", b"inf", False),
        (b"1e400", b"inf", False),
        (b"1e400", b"2e400", False),
        (b"1" * 400, b"1" * 399 + b"2", False),
        (b"1" * 400, b"1e999", False),
        (b"50000000000000001", b"50000000000000000", False),
        (b"50000000000000001", b"50000000000000000.0", True),
        (b"007", b"+7", True),
        (b"-0", b"0", True),
        (b"-7", b"7", False),
        (b".5 1.", b"0.5 1.0", True),
        (b"1e-1", b"0.1", True),
        (b"1_0", b"10.0", False),
        (b"0x10", b"16.0", False),
        (b"\xd9\xa1", b"1", False),
        (b"yes 1.0", b"yes 1.0004", True),
        (b"Yes", b"yes", False),
        (b"1.0 2.0", b"1.0", False),
        (b"-0.0", b"0", True),
        (b"1e308", b"-1e308", False),
    ],
)
def test_float_tokens(got: bytes, expected: bytes, equal: bool) -> None:
    assert text("float", got, expected, abs=0.001, rel=0) is equal


def test_relative_tolerance_is_of_the_expected_value() -> None:
    assert text("float", b"1.1e9", b"1.0e9", abs=0, rel=0.1)
    assert not text("float", b"1.0e9", b"1.2e9", abs=0, rel=0.1)
    assert not value(1.0, 1.2, mode="float", abs=0, rel=0.1)


@settings(max_examples=70, deadline=None)
@given(st.sampled_from(TEXT_MODES), bytes_like, bytes_like)
def test_text_compare_never_raises(mode: str, got: bytes, expected: bytes) -> None:
    assert text(mode, got, got)
    text(mode, got, expected)
    if mode != "exact":
        assert text(mode, got + b"\r\n\n", got)
    if mode != "float":
        assert text(mode, got, expected) == text(mode, expected, got)


def test_lines_for_a_person() -> None:
    line = compare_text(TextCompare(), b"1\n" + b"a" * 500 + b"\0\xff!", b"1\n" + b"a" * 500 + b"b\n2")
    assert line == "line 2: got ...'aaaaaaaaaaaa\\x00\\xff!', expected ...'aaaaaaaaaaaab'"
    assert compare_text(TextCompare(), b"1", b"1\n2") == "line 2 (1 lines, expected 2): got the end, expected '2'"
    assert compare_text(TextCompare("exact"), b"1\n2", b"1\n3") == "byte 3 (line 2): got '1\\n2', expected '1\\n3'"
    checked(compare_text(TextCompare(), b"\0" * 10_000, b"\xff" * 10_000))
    line = compare_value(ValueCompare(), [1, {"key": [5, 6]}], [1, {"key": [5, 7]}])
    assert line == "value[1]['key'][1]: got 6, expected 7"
    assert compare_value(ValueCompare(), 1, "1") == "value: got 1, expected '1'"
    assert compare_value(ValueCompare(), {1: 2}, {"1": 2}) == "value: got member 1, expected member '1'"
    assert compare_value(ValueCompare(), [1, 2], [1]) == "value: got [1, 2] of 2, expected [1] of 1"
    line = compare_value(ValueCompare(), Opaque("gen\udcff"), [0])
    assert line == "value: got gen\\udcff object, expected [0]"
    assert compare_value(ValueCompare(strict_types=True), (1,), [1]) == "value: got tuple (1), expected list [1]"


def test_long_hostile_output_is_not_quadratic() -> None:
    began = time.process_time()
    size = 2_000_000
    for got in (b"0" * size + b"x", b"1" * size + b"x", b" " * size + b"x", b"\r" * size + b"\nx", b"1e" * (size // 2)):
        for mode in TEXT_MODES:
            assert not text(mode, got, b"1.5\n2")
    assert text("float", b"0" * size + b"1", b"1")
    assert text("lines_any_order", b"a\n" * 200_000 + b"b", b"b\n" + b"a\n" * 200_000)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("got", "expected", "equal"),
    [
        ((1, [(2, 1)]), [1, [[2, 1]]], True),
        ({"a": (1, 2)}, {"a": [1, 2]}, True),
        ({1, 3}, {3, 1}, True),
        ({1}, frozenset([1]), True),
        ({1}, [1], False),
        ([1], {1}, False),
        ({1: 1}, {"1": 1}, False),
        ({1: 1}, {1.0: True}, True),
        ({True}, {1.0}, True),
        (1, 1.0, True),
        (True, 1, True),
        (0, None, False),
        (0, False, True),
        ("1", 1, False),
        ("a", b"a", False),
        ({"a": 1}, {b"a": 1}, False),
        (-0.0, 0.0, True),
        (10**400, 1e308, False),
        (2**53 + 1, float(2**53), False),
        (0.1 + 0.2, 0.3, False),
        (NAN, NAN, False),
        ([NAN], [NAN], False),
        ({NAN}, {NAN}, False),
        ({"a": {NAN: 1}}, {"a": {NAN: 1}}, False),
        ({(1, NAN)}, {(1, NAN)}, False),
        ([], (), True),
        ([], {}, False),
        ([], None, False),
        ({}, {"a": 1}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ({frozenset([1])}, {frozenset([1.0])}, True),
        ([[1, 2]], [1, 2], False),
        ([1], 1, False),
    ],
)
def test_value_mode(got: Any, expected: Any, equal: bool) -> None:
    assert value(got, expected) is equal
    assert value(expected, got) is equal


@pytest.mark.parametrize(
    ("got", "expected", "equal"),
    [
        ([50000000000000001], [50000000000000000], False),
        ([0.1 + 0.2], [0.3], True),
        (1, 1.0000001, True),
        (1.0000001, 1, True),
        (True, 1.0000001, True),
        (10**400, 1e308, False),
        (1e308, 10**400, False),
        (10**400, NAN, False),
        (10**400, math.inf, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (math.inf, 1e308, False),
        (NAN, 1.0, False),
        (1.0, NAN, False),
        (NAN, NAN, False),
        ({"a": (0.1 + 0.2,)}, {"a": [0.3]}, True),
        ({0.1 + 0.2, 5}, {0.3, 5}, True),
        ({0.1 + 0.2: 1.0}, {0.3: 1}, True),
        ({0.1 + 0.2: 1.0}, {0.3: 2}, False),
        ({0.1 + 0.2, 6}, {0.3, 5}, False),
        ({0.1 + 0.2, "a"}, {0.3, "b"}, False),
        ({(0.1 + 0.2,)}, {(0.3,)}, False),
        ("1.0", 1.0, False),
    ],
)
def test_float_mode(got: Any, expected: Any, equal: bool) -> None:
    assert value(got, expected, mode="float") is equal


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (1, 1.0),
        (True, 1),
        ((1,), [1]),
        ({1: 1}, {1.0: 1}),
        ({1}, frozenset([1])),
        ({1}, {True}),
        ([{(1,)}], [{(1.0,)}]),
    ],
)
def test_strict_types(got: Any, expected: Any) -> None:
    for mode in ("value", "float"):
        assert value(got, expected, mode=mode)
        assert not value(got, expected, mode=mode, strict_types=True)
        assert value(got, copy.deepcopy(got), mode=mode, strict_types=True)


def test_nan_equal() -> None:
    for mode in ("value", "float"):
        for strict in (False, True):
            how = {"mode": mode, "strict_types": strict, "nan_equal": True}
            for item in (NAN, [NAN], {NAN}, {NAN: 1}, {(NAN,)}, {frozenset([NAN, float("nan")])}):
                assert value(item, decode(encode(item)), **how)
            assert not value(NAN, 1.0, **how)
            assert not value(NAN, 1, **how)
            assert not value({NAN: 1, float("nan"): 2}, {NAN: 5, float("nan"): 2}, **how)
            assert not value({frozenset([NAN, float("nan")])}, {frozenset([NAN])}, **how)


def test_one_item_list() -> None:
    assert value([1, 2], [[1, 2]], one_item_list=True)
    assert value([[1, 2]], [[1, 2]], one_item_list=True)
    assert not value([1, 3], [[1, 2]], one_item_list=True)
    assert not value([[[1, 2]]], [[1, 2]], one_item_list=True)
    assert not value(1, [1, 2], one_item_list=True)
    assert not value([1, 2], [[1, 2]])


def test_opaque_equals_nothing_anywhere() -> None:
    thing = Opaque("Thing")
    for item in (thing, [thing], {thing}, {thing: 1}, {1: thing}, {(thing,)}, {frozenset([thing])}):
        for mode in ("value", "float"):
            assert not value(item, item, mode=mode)
            assert not value(item, item, mode=mode, strict_types=True, nan_equal=True)


@settings(max_examples=70, deadline=None)
@given(value_hows, plain, plain)
def test_compare_value_never_raises(how: ValueCompare, got: Any, expected: Any) -> None:
    checked(compare_value(how, got, expected))


def closed(item: Any) -> bool:
    return b"o" not in encode(item) and "nan" not in repr(item) and "Opaque" not in repr(item)


@settings(max_examples=70, deadline=None)
@given(value_hows, plain.filter(closed))
def test_a_copy_is_equal(how: ValueCompare, item: Any) -> None:
    assert checked(compare_value(how, decode(encode(item)), item)) is None


def as_tuples(item: Any) -> Any:
    if type(item) in (list, tuple):
        return tuple(map(as_tuples, item))
    return {key: as_tuples(inner) for key, inner in item.items()} if type(item) is dict else item


small = st.recursive(
    st.sampled_from([0, 1, 1.0, True, "1", b"1", None]),
    lambda inner: st.tuples(inner) | st.frozensets(inner, max_size=2),
    max_leaves=2,
)
similar = st.sets(small, max_size=2) | st.dictionaries(small, small, max_size=2) | st.lists(small, max_size=2)


@settings(max_examples=200, deadline=None)
@given(similar, similar)
def test_similar_values_compare_as_in_python(got: Any, expected: Any) -> None:
    assert value(got, expected) is (as_tuples(got) == as_tuples(expected))


def test_deep_and_large_values() -> None:
    deep: Any = 1
    other: Any = 2
    key: Any = 1
    for _ in range(50_000):
        deep, other = [deep], [other]
    for _ in range(150):
        key = (key,)
    assert value(deep, deep)
    assert not value(deep, other)
    assert not value({key}, {key}, strict_types=True)
    large = {"rows": [[index, float(index)] for index in range(20_000)], "set": set(range(20_000))}
    began = time.process_time()
    for mode in ("value", "float"):
        assert value(decode(encode(large, 1 << 24, 1 << 20), 1 << 24, 1 << 20), large, mode=mode, strict_types=True)
    assert time.process_time() - began < 5
    assert not value(10**10_000, 10**10_000 + 1)
    assert not value("x" * 10**6, "y" * 10**6)


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        (TextCompare, "trimmed", "t.mode"),
        (TextCompare, {"mode": "value"}, "t.mode"),
        (TextCompare, {"mode": "trim", "abs": 1}, "t"),
        (TextCompare, {"mode": "float", "eps": 1}, "t.eps"),
        (TextCompare, {"mode": "float", "abs": -1}, "t.abs"),
        (TextCompare, {"mode": "float", "rel": math.inf}, "t.rel"),
        (TextCompare, {"mode": "float", "rel": NAN}, "t.rel"),
        (TextCompare, {"mode": "float", "abs": 10**400}, "t.abs"),
        (TextCompare, {"mode": "float", "abs": True}, "t.abs"),
        (TextCompare, {"mode": "float", "abs": "1"}, "t.abs"),
        (TextCompare, {"mode": []}, "t.mode"),
        (TextCompare, 5, "t"),
        (ValueCompare, "trim", "t.mode"),
        (ValueCompare, {"nan_equal": 1}, "t.nan_equal"),
        (ValueCompare, {"strict": True}, "t.strict"),
        (ValueCompare, {5: True}, "t.5"),
    ],
)
def test_bad_specs(kind: Any, spec: object, field: str) -> None:
    with pytest.raises(UsageError) as caught:
        kind.parse(spec, "t")
    assert caught.value.field == field


def test_specs() -> None:
    spec = {"abs": 0.5}
    assert TextCompare.parse(spec, "t") == TextCompare("float", abs=0.5)
    assert spec == {"abs": 0.5}
    assert TextCompare.parse(None, "t") == TextCompare() == TextCompare.parse("trim", "t")
    assert TextCompare.parse({}, "t") == TextCompare.parse(TextCompare(), "t") == TextCompare()
    assert ValueCompare.parse({"mode": "float", "rel": 0}, "t") == ValueCompare("float", rel=0)
    assert ValueCompare.parse({"strict_types": True}, "t") == ValueCompare(strict_types=True)
    with pytest.raises(UsageError, match="choose from trim, exact, tokens, float, lines_any_order"):
        TextCompare.parse("no", "t")
    for how in (TextCompare("tokens"), ValueCompare(nan_equal=True)):
        assert pickle.loads(pickle.dumps(how)) == how
