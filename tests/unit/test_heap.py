"""What crosses between two jails: exactly what was sent, shared containers stay one, and garbage has a name."""

from __future__ import annotations

import collections
import datetime
import math
import os
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jailpy.roots import GUEST_CODE

sys.path.insert(0, GUEST_CODE)
import contextlib

import heap  # type: ignore[import-not-found]  # lies beside its neighbours, as in a jail
import values  # type: ignore[import-not-found]

sys.path.remove(GUEST_CODE)

_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.complex_numbers(),
    st.decimals(), st.fractions(), st.dates(), st.datetimes(), st.times(), st.timedeltas(),
    st.datetimes(timezones=st.just(datetime.UTC)), st.just(...), st.just(NotImplemented),
    st.builds(range, st.integers(), st.integers(), st.integers(1)),
    st.builds(slice, st.integers(), st.none(), st.integers()),
)  # fmt: skip
_keys = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.binary(), st.tuples(st.integers(), st.text()))
_plain = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner), st.tuples(inner, inner), st.dictionaries(_keys, inner), st.sets(_keys), st.frozensets(_keys),
        st.binary().map(bytearray), st.lists(inner).map(collections.deque), st.lists(_keys).map(collections.Counter),
        st.dictionaries(_keys, inner).map(collections.OrderedDict),
        st.dictionaries(_keys, inner).map(lambda d: collections.defaultdict(list, d)),
    ),
    max_leaves=20,
)  # fmt: skip


class _NoFolders:
    """No files are in common here."""

    def changes(self) -> list[Any]:
        return []

    def apply(self, changes: Any) -> None:
        assert changes == []


def _refuse(*_: Any) -> Any:
    raise heap.BadMessage("no stand-ins here")


class Ends:
    """Two sides that hold things in common, and a pipe from the first to the second and back."""

    def __init__(self) -> None:
        self.heaps = heap.Heap(0, _refuse, _refuse), heap.Heap(1, _refuse, _refuse)

    def carry(self, *parts: Any, back: bool = False) -> list[Any]:
        """What arrives on the other side."""
        sender, receiver = reversed(self.heaps) if back else self.heaps
        reader, writer = os.pipe()
        try:
            os.set_blocking(writer, False)
            heap.Link(writer, sender, _NoFolders(), _refuse).send("value", *parts)
            kind, body = heap.Link(reader, receiver, _NoFolders(), _refuse).receive()
        finally:
            os.close(reader)
            os.close(writer)
        assert kind == "value"
        found: list[Any] = body
        return found


def _equal(one: Any, other: Any) -> bool:
    """Equal in type and value all the way down, nan equal to nan, 0.0 not to -0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return (math.isnan(one) and math.isnan(other)) or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )
    if isinstance(one, complex):
        return _equal(one.real, other.real) and _equal(one.imag, other.imag)
    if isinstance(one, Decimal):
        return str(one) == str(other)
    if isinstance(one, datetime.datetime | datetime.time):
        return repr(one) == repr(other)
    if isinstance(one, dict):
        return len(one) == len(other) and all(map(_equal, one.items(), other.items()))
    if isinstance(one, list | tuple | collections.deque):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


class TestValues:
    @settings(max_examples=1000, deadline=None)
    @given(_plain)
    def test_every_plain_value_crosses_exactly(self, value: Any) -> None:
        (arrived,) = Ends().carry(value)
        assert _equal(arrived, value)

    @pytest.mark.parametrize("value", [int, ValueError, len, sorted, KeyError], ids=repr)
    def test_builtins_cross_by_name(self, value: Any) -> None:
        assert Ends().carry(value) == [value]

    @pytest.mark.parametrize("value", [exec, eval, open, __import__, input, print, exit], ids=repr)
    def test_what_runs_text_or_opens_files_does_not(self, value: Any) -> None:
        with pytest.raises(heap.BadMessage, match="no stand-ins"):
            Ends().carry(value)

    def test_an_instance_of_a_subclass_is_no_plain_value(self) -> None:
        class Always(int):
            def __eq__(self, other: object) -> bool:
                return True

            __hash__ = int.__hash__

        with pytest.raises(heap.BadMessage, match="no stand-ins"):
            Ends().carry(Always(3))

    def test_numpy_arrays_and_scalars(self) -> None:
        numpy = pytest.importorskip("numpy")
        array, scalar = Ends().carry(numpy.arange(6.0).reshape(2, 3), numpy.int64(7))
        assert array.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
        assert (type(scalar), scalar) == (numpy.int64, 7)

    def test_a_large_value_has_a_name(self) -> None:
        with pytest.raises(heap.TooLarge, match="bytes"):
            Ends().carry("x" * (heap.MAX_BYTES + 1))
        with pytest.raises(heap.TooLarge, match="nodes"):
            Ends().carry([0] * (heap.MAX_NODES + 1))


class TestSharing:
    def test_one_list_stays_one(self) -> None:
        inner = [1]
        first, second = Ends().carry([inner, inner], inner)
        assert first[0] is first[1] is second

    def test_a_list_that_holds_itself(self) -> None:
        ring: list[Any] = []
        ring.append(ring)
        (arrived,) = Ends().carry(ring)
        assert arrived[0] is arrived

    def test_changes_are_seen_on_both_sides(self) -> None:
        ends, mine = Ends(), [3, 1, 2]
        (theirs,) = ends.carry(mine)
        theirs.sort()
        (back,) = ends.carry(theirs, back=True)
        assert back is mine
        assert mine == [1, 2, 3]
        mine.append({4})
        ends.carry(None)
        assert theirs == [1, 2, 3, {4}]

    @pytest.mark.parametrize(
        ("value", "change"),
        [
            ({"a": [1]}, lambda v: v["a"].append(2)),
            ({1, 2}, lambda v: v.add(3)),
            (bytearray(b"ab"), lambda v: v.extend(b"c")),
            ({(1, "x"): 2}, lambda v: v.update({(3, "y"): 4})),
            ([True], lambda v: v.__setitem__(0, 1)),
        ],
        ids=["dict", "set", "bytearray", "tuple keys", "another type"],
    )
    def test_every_container(self, value: Any, change: Any) -> None:
        ends = Ends()
        (theirs,) = ends.carry(value)
        change(theirs)
        ends.carry(None, back=True)
        assert _equal(value, theirs)

    def test_what_only_the_table_holds_is_forgotten_after_its_changes_were_sent(self) -> None:
        ends, kept = Ends(), [1]
        (theirs,) = ends.carry([kept])
        first, second = ends.heaps
        assert len(first.sweep()) == 1  # the outer list; the inner one is held by us
        theirs.append(2)
        assert len(first.objects) == 1
        kept.append(5)
        del kept
        assert first.sweep() == []
        ends.carry(None)
        assert len(first.sweep()) == 1
        assert len(second.objects) == 2

    def test_a_message_that_is_too_large_tells_nothing(self) -> None:
        ends, kept = Ends(), [1]
        (theirs,) = ends.carry(kept)
        kept.append(2)
        inner = [3]
        with pytest.raises(heap.TooLarge):
            ends.carry(inner, "x" * (heap.MAX_BYTES + 1))
        (arrived,) = ends.carry(inner)
        assert (arrived, theirs) == ([3], [1, 2])


_marks = st.sampled_from(["@new", "@ref", "@std", "@name", "@own", "@back", "@class", "@error", "nonsense"])
_hostile = st.recursive(
    st.one_of(
        st.none(), st.integers(-3, 9), st.text(max_size=5), st.floats(), st.binary(max_size=5),
        st.sampled_from([*list(heap._TYPES), "array", "scalar", "int", "exec", "<i8", "|O", "<f8"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(st.integers(0, 3), inner, max_size=2),
        st.builds(lambda mark, rest: (values.Opaque(mark), *rest), _marks, st.lists(inner, max_size=4)),
    ),
    max_leaves=12,
)  # fmt: skip


class TestGarbage:
    def receive(self, data: bytes, side: Any = None) -> Any:
        reader, writer = os.pipe()
        try:
            os.write(writer, data)
            os.close(writer)
            return heap.Link(reader, side or heap.Heap(0, _refuse, _refuse), _NoFolders(), _refuse).receive()
        finally:
            os.close(reader)

    @settings(max_examples=1000, deadline=None)
    @given(_hostile, _hostile)
    def test_made_up_messages_are_bad_messages_and_nothing_else(self, changes: Any, body: Any) -> None:
        frame = values.encode(("value", changes, [], [], [body]), 1 << 20)
        with contextlib.suppress(heap.BadMessage):
            self.receive(len(frame).to_bytes(8, "big") + frame)

    @settings(max_examples=300, deadline=None)
    @given(st.binary(max_size=200))
    def test_bytes_that_are_no_message(self, data: bytes) -> None:
        with pytest.raises(heap.BadMessage):
            self.receive(len(data).to_bytes(8, "big") + data)

    @pytest.mark.parametrize(
        ("data", "why"),
        [
            (b"", "gone"),
            (b"\0" * 7, "gone"),
            ((1 << 40).to_bytes(8, "big"), "longer than any"),
            (b"\xff" * 8, "longer than any"),
            ((100).to_bytes(8, "big") + b"l99:", "gone"),
        ],
        ids=["nothing", "half a length", "a lying length", "the largest length", "cut off"],
    )
    def test_lengths(self, data: bytes, why: str) -> None:
        with pytest.raises(heap.BadMessage, match=why):
            self.receive(data)

    @pytest.mark.parametrize(
        ("body", "why"),
        [
            ((values.Opaque("@new"), 2, []), "not the sender's"),
            ((values.Opaque("@new"), 1, "text"), "a shared str"),
            ((values.Opaque("@ref"), 7), "KeyError"),
            ((values.Opaque("@name"), "exec"), "KeyError"),
            ((values.Opaque("@std"), "os.system", "true"), "KeyError"),
            ((values.Opaque("@std"), "array", "|O", (1,), b"12345678"), "no type of numbers"),
            ((values.Opaque("@std"), "array", "<f8", (1 << 40,), b"12345678"), "ValueError"),
            ((values.Opaque("@std"), "fractions.Fraction", 1, 0), "ZeroDivisionError"),
            ([1], "a bare list"),
            ((values.Opaque("@new"), 1, ("d", [(values.Opaque("@new"), 3, []), 1])), "unhashable"),
            ((values.Opaque("@new"), 1, ("s", [i * sys.hash_info.modulus for i in range(1000)])), "equal hash"),
        ],
        ids=[
            *("number of ours", "shared text", "unknown reference", "exec", "os.system", "objects", "lying shape"),
            *("division", "no mark", "unhashable key", "equal hashes"),
        ],
    )
    def test_crafted_values(self, body: Any, why: str) -> None:
        frame = values.encode(("value", [], [], [], [body]), 1 << 20, 1 << 20)
        with pytest.raises(heap.BadMessage, match=why):
            self.receive(len(frame).to_bytes(8, "big") + frame)

    def test_depth_is_bounded(self) -> None:
        frame = b"t1:" * 10_000 + b"N"
        with pytest.raises(heap.BadMessage, match="deeper"):
            self.receive(len(frame).to_bytes(8, "big") + frame)

    def test_fractions_stay_fractions(self) -> None:
        assert Ends().carry(Fraction(1, 3)) == [Fraction(1, 3)]
