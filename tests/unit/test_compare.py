"""The comparators: every mode's edge cases, and one bounded line for every difference."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import sys
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
    unordered=st.integers(0, 3),
)


def text(mode: str, got: bytes, expected: bytes, **options: Any) -> bool:
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
        ("trim", b"\xef\xbb\xbf7", b"7", False),
        ("trim", b"7\xe2\x80\x8b", b"7", False),
        ("trim", b"7\xc2\xa0", b"7", False),
        ("trim", b"1" * 5000 + b" ", b"1" * 5000, True),
        ("tokens", b"7\xe2\x80\x8b 8", b"7 8", False),
        ("tokens", b"a\x0b\x0cb\r\nc", b"a b c", True),
        ("tokens", b"Yes", b"yes", False),
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


@pytest.mark.parametrize("mode", ["trim", "tokens", "float", "lines_any_order"])
def test_case(mode: str) -> None:
    assert text(mode, b"a YES\nB", b"A yes\nb", case_sensitive=False)
    assert not text(mode, b"a YES\nB", b"A yes\nb")
    assert not text(mode, b"a YES\nc", b"A yes\nb", case_sensitive=False)
    assert not text(mode, "\u00c9".encode(), "\u00e9".encode(), case_sensitive=False)
    line = compare_text(TextCompare(mode, case_sensitive=False), b"YES\nNo", b"yes\nNone")
    assert line is not None
    assert "'No'" in line


def test_a_row_of_kattis() -> None:
    assert text("float", b"Case 1: 0.30000001", b"case 1: 0.3", abs=1e-5, rel=0, case_sensitive=False)
    assert not text("float", b"Case 2: 0.30000001", b"case 1: 0.3", abs=1e-5, rel=0, case_sensitive=False)


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


A500 = "a" * 500


@pytest.mark.parametrize(
    ("how", "got", "expected", "line"),
    [
        (
            TextCompare(),
            f"1\n{A500}\0\xff!",
            f"1\n{A500}b\n2",
            "line 2, column 501: got ...'aaaaaaaaaaaa\\x00\\xff!', expected ...'aaaaaaaaaaaab'",
        ),
        (TextCompare(), "1", "1\n2", "line 2: got nothing more, expected '2' (1 line, expected 2)"),
        (TextCompare(), "1\n2\n3", "1", "line 2: got '2', expected nothing more (3 lines, expected 1)"),
        (TextCompare(), "\n", "7", "line 1: got no output, expected '7' (0 lines, expected 1)"),
        (TextCompare(), "7", "", "line 1: got '7', expected no output (1 line, expected 0)"),
        (TextCompare(), "a  b", "a b", "line 1, column 3: got 'a  b', expected 'a b' (only white space differs)"),
        (TextCompare(), "a\tb", "a b", "line 1, column 2: got 'a\\tb', expected 'a b' (only white space differs)"),
        (TextCompare(), "YES", "Yes", "line 1, column 2: got 'YES', expected 'Yes' (only upper and lower case differ)"),
        (TextCompare("exact"), "1\n2", "1\n3", "line 2, column 1 (byte 3): got '1\\n2', expected '1\\n3'"),
        (TextCompare("exact"), "", "\n", "line 1, column 1 (byte 1): got '', expected '\\n' (only white space differs)"),
        (TextCompare("tokens"), "1\n2 3\n", "1 2 4", "token 3 (line 2): got '3', expected '4'"),
        (TextCompare("tokens"), "1 2\n", "1", "token 2 (line 1): got '2', expected nothing more (2 tokens, expected 1)"),
        (TextCompare("float"), "1.5 2.5", "1.5 2.25", "token 2 (line 1): got '2.5', expected '2.25' (off by 0.25)"),
        (TextCompare("float"), "nan", "2.25", "token 1 (line 1): got 'nan', expected '2.25'"),
        (
            TextCompare("lines_any_order"),
            "b\na\na",
            "a\nb",
            "lines in any order: got 'a', expected no other line (3 lines, expected 2)",
        ),
    ],
)
def test_lines_about_output(how: TextCompare, got: str, expected: str, line: str) -> None:
    told = checked(compare_text(how, got.encode("latin-1"), expected.encode("latin-1")))
    assert told == line


def test_invisible_characters_are_told() -> None:
    for invisible in ("\ufeff", "\u200b", "\u00a0", "\u2060"):
        told = checked(compare_text(TextCompare(), f"{invisible}7".encode(), b"7"))
        assert told is not None
        assert told.endswith("(only invisible characters differ)") or invisible == "\u00a0"
        assert "\\x" in told
    told = checked(compare_value(ValueCompare(), "7\u200b", "7"))
    assert told == "value, character 2: got '7\\u200b', expected '7' (only invisible characters differ)"


@pytest.mark.parametrize(
    ("got", "expected", "options", "line"),
    [
        ([1, {"key": [5, 6]}], [1, {"key": [5, 7]}], {}, "value[1]['key'][1]: got 6, expected 7"),
        (1, "1", {}, "value: got int 1, expected str '1'"),
        (None, [0], {}, "value: got None, expected list [0]"),
        ("a", b"a", {}, "value: got str 'a', expected bytes b'a'"),
        (1, 2.5, {}, "value: got 1, expected 2.5"),
        (1, 1.0, {"strict_types": True}, "value: got int 1, expected float 1.0"),
        ((1,), [1], {"strict_types": True}, "value: got tuple (1), expected list [1]"),
        (1.5, 1.25, {"mode": "float"}, "value: got 1.5, expected 1.25 (off by 0.25)"),
        (10**400, 1.5, {"mode": "float"}, "value: got an int of 1329 bits that ends in 000000000, expected 1.5"),
        (NAN, NAN, {}, "value: got float nan, expected float nan"),
        ([1, 2], [1], {}, "value: got [1, 2] of 2, expected [1] of 1"),
        ([9, 2, 3], [9, 3], {}, "value: got [9, 2, 3] of 3, expected [9, 3] of 2 (the first difference is at [1])"),
        ({1: 2}, {"1": 2}, {}, "value: got key int 1, expected key str '1'"),
        ({1, 2}, {1, 3}, {}, "value: got member int 2, expected member int 3"),
        ([1, 1, 2], [1, 2, 2], {"unordered": True}, "value: got item int 1, expected item int 2"),
        (Opaque("gen\udcff"), [0], {}, "value: got gen\\udcff object, expected list [0]"),
        (
            "x" * 5000 + "a",
            "x" * 5000 + "b",
            {},
            "value, character 5001: got ...'xxxxxxxxxxxxa', expected ...'xxxxxxxxxxxxb'",
        ),
        ("a b ", "a b", {}, "value, character 4: got 'a b ', expected 'a b' (only white space differs)"),
    ],
)
def test_lines_about_values(got: Any, expected: Any, options: dict[str, Any], line: str) -> None:
    assert checked(compare_value(ValueCompare(**options), got, expected)) == line


def test_lines_are_bounded() -> None:
    checked(compare_text(TextCompare(), b"\0" * 10_000, b"\xff" * 10_000))
    for left, right in (("\0" * 9000, "\0" * 9000 + " "), ([["\0" * 99] * 9] * 9, []), ({"\0" * 99: 1}, {"\1" * 99: 1})):
        assert checked(compare_value(ValueCompare(), [[[[left]]]], [[[[right]]]])) is not None


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


@pytest.mark.parametrize(
    ("got", "expected", "levels", "equal"),
    [
        ([3, 1, 2], [1, 2, 3], True, True),
        ([3, 1, 2], [1, 2, 3], False, False),
        ((3, 1), [1, 3], True, True),
        ([1, 1, 2], [1, 2, 2], True, False),
        ([1, 2], [1, 2, 2], True, False),
        ([True, 1.0], [1, 1], True, True),
        (["1"], [1], True, False),
        ([b"a", "a"], ["a", b"a"], True, True),
        ([[1, 2], [3]], [[3], [1, 2]], 1, True),
        ([[2, 1], [3]], [[3], [1, 2]], 1, False),
        ([[2, 1], [3]], [[3], [1, 2]], 2, True),
        ([[[2, 1]], [3]], [[3], [[1, 2]]], 2, False),
        ([[[2, 1]], [3]], [[3], [[1, 2]]], 3, True),
        ([{"a": [1, 2]}, {}], [{}, {"a": [1, 2]}], 1, True),
        ([{"a": [2, 1]}, {}], [{}, {"a": [1, 2]}], 2, False),
        ([{"a": [2, 1]}, {}], [{}, {"a": [1, 2]}], 3, True),
        ({"a": [2, 1]}, {"a": [1, 2]}, 1, False),
        ({"a": [2, 1]}, {"a": [1, 2]}, 2, True),
        ([{1, None}, {2}], [{2}, {None, 1}], 1, True),
        ([NAN, 1], [1, NAN], 1, False),
        ([None, 0], [0, None], 1, True),
        ([2**70, 2.0**70], [2**70, 2**70], 1, True),
        ([2**70 + 1, 0], [0, 2**70], 1, False),
        ([-0.0, 1], [1, 0], 1, True),
        ([Opaque("a")], [Opaque("a")], 1, False),
        ("ab", "ba", 1, False),
    ],
)
def test_unordered(got: Any, expected: Any, levels: int, equal: bool) -> None:
    for mode in ("value", "float"):
        assert value(got, expected, mode=mode, unordered=levels) is equal
        assert value(expected, got, mode=mode, unordered=levels) is equal


def test_unordered_with_other_options() -> None:
    assert value([0.1 + 0.2, 5, "a"], ["a", 5, 0.3], mode="float", unordered=True)
    assert not value([0.1 + 0.2, 5], [5, 0.3], unordered=True)
    assert value([[0.1 + 0.2, 1], [7.0, 2]], [[7, 2], [0.3, 1]], mode="float", unordered=True)
    assert not value([[0.1 + 0.2, 1], [7.0, 2]], [[7, 2], [0.4, 1]], mode="float", unordered=True)
    assert value([[1, 0.1 + 0.2], []], [[], [0.3, 1]], mode="float", unordered=2)
    assert value([NAN, 1], [1, NAN], unordered=True, nan_equal=True)
    assert not value([1, 2.0], [2, 1], unordered=True, strict_types=True)
    assert value([1, 2.0], [2.0, 1], unordered=True, strict_types=True)
    assert not value([NAN, 0.5], [0.5, 0.5], mode="float", unordered=True)
    assert value([2, 1], [[1, 2]], unordered=True, one_item_list=True)


def test_chosen_hashes_cost_no_more_than_others() -> None:
    step = sys.hash_info.modulus
    items = [number * step for number in range(20_000)]  # all hash to 0
    assert len(set(map(hash, items))) == 1
    assert value(items[::-1], items, unordered=True)
    assert not value([*items[::-1], 1], [*items, 2], unordered=True)
    assert not value([[item] for item in items] + [[1]], [[item] for item in items] + [[2]], unordered=2, mode="float")


def test_opaque_equals_nothing_anywhere() -> None:
    thing = Opaque("Thing")
    for item in (thing, [thing], {thing}, {thing: 1}, {1: thing}, {(thing,)}, {frozenset([thing])}):
        for mode in ("value", "float"):
            assert not value(item, item, mode=mode)
            assert not value(item, item, mode=mode, strict_types=True, nan_equal=True)


@settings(max_examples=150, deadline=None)
@given(value_hows, plain, plain)
def test_compare_value_never_raises(how: ValueCompare, got: Any, expected: Any) -> None:
    told = checked(compare_value(how, got, expected))
    if how.mode == "value" and not how.one_item_list:  # in mode float the tolerance is of the expected value
        assert (checked(compare_value(how, expected, got)) is None) is (told is None)


def closed(item: Any) -> bool:
    return b"o" not in encode(item) and "nan" not in repr(item) and "Opaque" not in repr(item)


@settings(max_examples=70, deadline=None)
@given(value_hows, plain.filter(closed))
def test_a_copy_is_equal(how: ValueCompare, item: Any) -> None:
    assert checked(compare_value(how, decode(encode(item)), item)) is None


@settings(max_examples=100, deadline=None)
@given(value_hows, st.lists(plain, max_size=5).filter(closed), st.randoms(use_true_random=False))
def test_a_shuffled_copy_is_equal(how: ValueCompare, items: list[Any], random: Any) -> None:
    shuffled = decode(encode(items))
    random.shuffle(shuffled)
    unordered = dataclasses.replace(how, unordered=1)
    assert checked(compare_value(unordered, shuffled, items)) is None


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


def equal_in_some_order(got: list[Any], expected: list[Any]) -> bool:
    left = list(expected)
    for item in got:
        at = next((at for at, other in enumerate(left) if as_tuples(item) == as_tuples(other)), None)
        if at is None:
            return False
        del left[at]
    return not left


@settings(max_examples=200, deadline=None)
@given(st.lists(similar, max_size=4), st.lists(similar, max_size=4))
def test_unordered_is_what_pairing_one_by_one_finds(got: list[Any], expected: list[Any]) -> None:
    assert value(got, expected, unordered=True) is equal_in_some_order(got, expected)
    assert value(got, got[::-1], unordered=True)


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
        (TextCompare, {"case_sensitive": 0}, "t.case_sensitive"),
        (TextCompare, {"mode": "exact", "case_sensitive": False}, "t.case_sensitive"),
        (ValueCompare, {"unordered": -1}, "t.unordered"),
        (ValueCompare, {"unordered": 51}, "t.unordered"),
        (ValueCompare, {"unordered": "deep"}, "t.unordered"),
        (ValueCompare, {"unordered": 1.5}, "t.unordered"),
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
