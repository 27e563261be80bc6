"""The codec: exact round trips, bounds, and hostile frames."""

from __future__ import annotations

import contextlib
import math
import pickle
import struct
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jailpy.guest import values
from jailpy.guest.values import BadFrame, Opaque, TooLarge, decode, encode

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates included
hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text | st.binary(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
plain = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.sets(hashable, max_size=4)
    ),
    max_leaves=20,
)


def same(left: Any, right: Any) -> bool:
    """Equal in type and value at every depth, in order, nan and -0.0 by their bits."""
    if type(left) is not type(right):
        return False
    if type(left) is float:
        return struct.pack(">d", left) == struct.pack(">d", right)
    if type(left) in (list, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if type(left) is dict:
        return same(list(left.items()), list(right.items()))
    if type(left) in (set, frozenset):
        return len(left) == len(right) and all(any(same(a, b) for b in right) for a in left)
    return bool(left == right)


@settings(max_examples=80, deadline=None)
@given(plain)
def test_round_trip(value: Any) -> None:
    assert same(decode(encode(value)), value)


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=40) | st.text("NTFifsbltSZdo0123456789:-abcdef", max_size=30).map(str.encode))
def test_any_bytes_give_a_value_or_bad_frame(data: bytes) -> None:
    try:
        value = decode(data)
    except BadFrame as error:
        assert 0 <= error.at <= len(data)
        assert str(error.at) in str(error)
    else:
        assert len(encode(value)) == len(data)


@settings(max_examples=80, deadline=None)
@given(plain, st.data())
def test_damaged_frames(value: Any, data: st.DataObject) -> None:
    frame = encode(value)
    with pytest.raises(BadFrame):
        decode(frame[: data.draw(st.integers(0, len(frame) - 1))])
    with pytest.raises(BadFrame, match="trailing"):
        decode(frame + b"N")
    at = data.draw(st.integers(0, len(frame) - 1))
    damaged = frame[:at] + bytes([data.draw(st.integers(0, 255))]) + frame[at + 1 :]
    with contextlib.suppress(BadFrame):
        decode(damaged)


@pytest.mark.parametrize(
    ("value", "frame"),
    [
        (None, b"N"),
        (True, b"T"),
        (False, b"F"),
        (0, b"i1:0"),
        (-255, b"i3:-ff"),
        (1.5, b"f?\xf8\0\0\0\0\0\0"),
        ("a\udcff", b"s4:a\xed\xb3\xbf"),
        (b"\xff", b"b1:\xff"),
        ([1, "a"], b"l2:i1:1s1:a"),
        ((), b"t0:"),
        ({1}, b"S1:i1:1"),
        (frozenset(), b"Z0:"),
        ({"a": [None]}, b"d1:s1:al1:N"),
        (object(), b"o6:object"),
    ],
)
def test_format(value: object, frame: bytes) -> None:
    assert encode(value) == frame


def test_exact_scalars() -> None:
    for value in (math.nan, math.inf, -math.inf, -0.0, 5e-324, 10**20_000, -(10**20_000), "\ud800"):
        assert same(decode(encode(value)), value)


def test_big_ints_are_linear() -> None:
    began = time.process_time()
    number = 1 << 4_000_000
    assert decode(encode(number, 1 << 21), 1 << 21) == number
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (b"", "too early"),
        (b"x", "unknown tag"),
        (b"NN", "trailing"),
        (b"i0:", "not hexadecimal"),
        (b"i2:01", "shortest form"),
        (b"i2:-0", "shortest form"),
        (b"i1:F", "shortest form"),
        (b"i2:+1", "shortest form"),
        (b"i2: 1", "shortest form"),
        (b"i3:1_1", "shortest form"),
        (b"i3:0x1", "shortest form"),
        (b"i2:\xc2\xb2", "not hexadecimal"),
        (b"i:1", "no length"),
        (b"i01:1", "no length"),
        (b"i-1:1", "no length"),
        (b"i+1:1", "no length"),
        (b"i1", "no length"),
        (b"s\xd9\xa1:a", "no length"),
        (b"s99999999999999999999999:a", "no length"),
        (b"s999999999999:a", "longer than the frame"),
        (b"b2:a", "longer than the frame"),
        (b"s1:\xff", "not UTF-8"),
        (b"s2:\xc0\x80", "not UTF-8"),
        (b"f1234567", "cut short"),
        (b"l999999999999:", "more members"),
        (b"d2:NNN", "more members"),
        (b"l2:N", "more members"),
        (b"S2:NN", "equal members"),
        (b"Z2:i1:1T", "equal members"),
        (b"d2:i1:0N" + b"f" + bytes(8) + b"N", "equal members"),
        (b"S1:l0:", "unhashable"),
        (b"d1:t1:S0:N", "unhashable"),
        (b"o101:" + b"a" * 101, "type name"),
        (b"l1:" * 201 + b"N", "nested deeper"),
        (b"l1:" * 300_000 + b"N", "nested deeper"),
        (b"l200000:" + b"N" * 200_000, "more than 200000 values"),
        (b"S150000:" + b"N" * 150_000, "more than 100000 members"),
        (b"N" * ((1 << 20) + 1), "are allowed"),
    ],
    ids=lambda item: item if type(item) is str else "frame",
)
def test_hostile_frames(frame: bytes, problem: str) -> None:
    with pytest.raises(BadFrame, match=problem):
        decode(frame)


def test_nan_keys_are_members_of_their_own() -> None:
    nan = b"f\x7f\xf8" + bytes(6)
    assert len(decode(b"S2:" + nan + nan)) == 2
    assert len(decode(b"d2:" + nan + b"T" + nan + b"F")) == 2
    many = 50_000
    began = time.process_time()
    assert len(decode(b"S%d:" % many + nan * many)) == many
    assert time.process_time() - began < 2


def test_hash_floods_are_refused_quickly() -> None:
    flood = encode([index * ((1 << 61) - 1) for index in range(30_000)])
    began = time.process_time()
    with pytest.raises(BadFrame, match="equal hash"):
        decode(b"S" + flood[1:])
    assert time.process_time() - began < 1
    grid = {(x, y, z) for x in range(-9, 9) for y in range(-9, 9) for z in range(-9, 9)}
    assert decode(encode(grid)) == grid


def test_bounds_of_encode() -> None:
    deep: Any = None
    for _ in range(200):
        deep = [deep]
    assert same(decode(encode(deep)), deep)
    for value, what in [
        ([deep], "depth"),
        ([None] * 200_000, "nodes"),
        (dict.fromkeys(range(100_001)), "members"),
        ("a" * (1 << 20), "bytes"),
        ("\u20ac" * 400_000, "bytes"),
        (b"a" * (1 << 20), "bytes"),
        (1 << (1 << 23), "bytes"),
        (["a" * 1000] * 2000, "bytes"),
    ]:
        with pytest.raises(TooLarge) as caught:
            encode(value)
        assert caught.value.what == what
        assert what in str(caught.value)
    assert same(decode(encode([None] * 199_999)), [None] * 199_999)
    with pytest.raises(TooLarge):
        encode(None, max_nodes=0)


def test_very_deep_and_cyclic_containers_are_too_large() -> None:
    deep: Any = ()
    for _ in range(100_000):
        deep = (deep,)
    cycle: list[Any] = []
    cycle.append(cycle)
    wide: dict[str, Any] = {}
    wide.update(a=wide, b=wide)
    for value in (deep, cycle, wide):
        with pytest.raises(TooLarge, match="depth"):
            encode(value)


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError("hooked")

    def __hash__(cls) -> int:
        raise RuntimeError("hooked")

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("hooked")

    def __instancecheck__(cls, instance: object) -> bool:
        raise RuntimeError("hooked")


class Hostile(metaclass=Meta):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("hooked")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("hooked")

    def __hash__(self) -> int:
        raise RuntimeError("hooked")

    def __repr__(self) -> str:
        raise RuntimeError("hooked")

    __bool__ = __len__ = __iter__ = __index__ = __float__ = __hash__


class Number(int):
    def bit_length(self) -> int:
        raise RuntimeError("hooked")


class Items(list):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("hooked")

    def __len__(self) -> int:
        raise RuntimeError("hooked")


class Pair(tuple):  # type: ignore[type-arg]
    pass


class Name(str):
    def __getitem__(self, key: Any) -> str:
        raise RuntimeError("hooked")

    def encode(self, *args: Any, **kwargs: Any) -> bytes:
        raise RuntimeError("hooked")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Hostile(), "Hostile"),
        (Hostile, "Meta"),
        (Number(3), "Number"),
        (Items([1]), "Items"),
        (1j, "complex"),
        (bytearray(b"a"), "bytearray"),
        (range(3), "range"),
        ((x for x in "a"), "generator"),
        (OrderedDict(a=1), "OrderedDict"),
        (Pair((1, 2)), "Pair"),
        ({}.keys(), "dict_keys"),
    ],
    ids=lambda item: item if type(item) is str else "value",
)
def test_everything_else_is_opaque(value: Any, name: str) -> None:
    found = decode(encode([value, {"k": value}]))
    assert [found[0].type_name, found[1]["k"].type_name] == [name, name]
    assert type(found[0]) is Opaque


def test_type_names_are_bounded_and_unhooked() -> None:
    long = type("x" * 10_000, (), {})
    odd = type("Odd", (), {})
    odd.__qualname__ = Name("evil\udcff")
    assert [item.type_name for item in decode(encode([long(), odd()]))] == ["x" * 100, "evil\udcff"]
    assert decode(encode(Opaque("kept"))).type_name == "kept"


def test_opaque_equals_nothing() -> None:
    opaque = Opaque("Thing")
    assert opaque != opaque  # noqa: PLR0124
    assert not opaque == opaque  # noqa: PLR0124, SIM201
    assert pickle.loads(pickle.dumps(opaque)).type_name == "Thing"
    assert "Thing" in repr(opaque)
    assert len(decode(b"S2:o1:ao1:a")) == 2


def test_errors_pickle() -> None:
    for error in (TooLarge("bytes", 5), BadFrame("trailing bytes", 7)):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_module_imports_alone_and_survives_patched_builtins() -> None:
    code = """
import builtins, runpy, sys
module = runpy.run_path(sys.argv[1])
for name in ("len", "type", "iter", "tuple", "list", "dict", "int", "str", "bytes", "isinstance", "hash", "set"):
    setattr(builtins, name, None)
ok = module["encode"]([1, {"a": (None, 2.5)}, b"x", {3}]) == b"l4:i1:1d1:s1:at2:Nf@\\x04\\0\\0\\0\\0\\0\\0b1:xS1:i1:3"
print("jailpy" not in sys.modules and ok)
"""
    path = Path(values.__file__)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, str(path)], capture_output=True, check=True)
    assert done.stdout == b"True\n"
