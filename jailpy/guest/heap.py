"""What a program's jail and the jail of its tests hold in common, as messages of plain values (values.py).

Plain immutable values cross as copies. Lists, dicts, sets and bytearrays are shared: both sides hold one under the same
number, and every message carries what its sender changed since the last one, so that in-place changes are seen on the
other side and identity is kept. Well-known immutable types cross as themselves. Everything else is the business of
`export` on the sender's side, which gives a mark, and `adopt` on the receiver's, which makes something of one.

On the wire a mark is a tuple whose first item is an opaque value; its type name says which:

    @new N CONTENT    a shared container that the receiver does not know yet; dicts and sets whose keys are not all
                      plain are lists of their items behind a letter
    @ref N            a shared container that both know
    @std NAME ...     an instance of a well-known type
    @name NAME        a built-in type, exception class or function

`receive` raises BadMessage, never anything else, on what is no such message. Python 3.9 and later, standard library
only.
"""

from __future__ import annotations

import builtins
import os
import re
import sys
from itertools import chain
from operator import is_
from typing import Any, Callable  # noqa: UP035  # Python 3.9 has no other

import values

MAX_BYTES = 16 << 20
#: The top-level modules of a program, or of test code, that is one text.
MAIN = frozenset(("__main__",))
MAX_NODES = 2_000_000
MAX_DEPTH = 600
_LEAVES = frozenset((type(None), bool, int, float, str, bytes))
_Opaque = values.Opaque
_NEW, _REF, _STD, _NAME = (_Opaque(name) for name in ("@new", "@ref", "@std", "@name"))
_FUNCTIONS = ("abs", "all", "any", "bin", "chr", "divmod", "hash", "hex", "len", "max", "min", "oct", "ord", "pow", "repr")
#: What a name may stand for: nothing that runs text, opens files or ends the process.
NAMED = {
    name: value
    for name, value in vars(builtins).items()
    if not name.startswith("_") and (isinstance(value, type) or name in (*_FUNCTIONS, "round", "sorted", "sum"))
}
_NAME_OF = {id(value): name for name, value in NAMED.items()}
_DTYPE = re.compile(r"[<>|=]?[?biufcSUMm]\d*(\[\d*\w+\])?")


def mark(name: str) -> Any:
    """What a tuple begins with that stands for something else."""
    return _Opaque(name)


class BadMessage(BaseException):
    """What came from the other side is no message: hostile, or cut off."""


class TooLarge(BaseException):
    """A value does not fit a message; `what` is in values.TooLarge."""

    def __init__(self, what: str) -> None:
        super().__init__(f"a value is too large to cross between the jails ({what})")
        self.what = what


class Heap:
    """The shared containers of one side. `first` is the number of the first that this side shares: 0 or 1."""

    def __init__(self, first: int, export: Callable[[Any], Any], adopt: Callable[[str, Any], Any]) -> None:
        self.next = first
        self.theirs = 1 - first
        self.export = export
        self.adopt = adopt
        self.objects: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        self.seen: dict[int, Any] = {}
        self.told: list[tuple[int, Any]] = []  # (number, seen before) of what the message in the making tells

    def take_back(self) -> None:
        """The message in the making is not sent: the other side knows nothing of what it would have told."""
        for number, seen in reversed(self.told):
            if seen is None:
                self.forget(number)
            else:
                self.seen[number] = seen

    def pack(self, value: Any) -> Any:
        """A value as it goes into a message."""
        kind = type(value)
        if kind in _LEAVES:
            return value
        if kind is tuple:
            return tuple([self.pack(item) for item in value])
        if kind in _SHARED:
            number = self.numbers.get(id(value))
            return (_REF, number) if number is not None else self._share(value)
        name = _NAME_OF.get(id(value))
        if name is not None:
            return (_NAME, name)
        packer = _packer(kind)
        return packer(self, value) if packer else self.export(value)

    def unpack(self, item: Any) -> Any:
        """The value that a part of a message stands for."""
        kind = type(item)
        if kind in _LEAVES:
            return item
        if kind is not tuple:
            raise BadMessage(f"a bare {kind.__name__}")
        if not item or type(item[0]) is not _Opaque:
            return tuple([self.unpack(part) for part in item])
        tag = item[0].type_name
        if tag == "@ref":
            return self.objects[item[1]]
        if tag == "@new":
            return self._take(item[1], item[2])
        if tag == "@name":
            return NAMED[item[1]]
        if tag == "@std":
            return _standard(self, *item[1:])
        return self.adopt(tag, item)

    def changes(self) -> list[Any]:
        """(number, content) of what this side has changed since the last message in either direction."""
        changed = [number for number, value in self.objects.items() if not _same(_flat(value), self.seen[number])]
        self.told.extend((number, self.seen[number]) for number in changed)
        return [(number, self._content(self.objects[number], number)) for number in changed]

    def apply(self, changes: Any) -> None:
        """The other side's changes."""
        for number, content in changes:
            self._fill(number, self.objects[number], content)

    def sweep(self) -> list[int]:
        """Forgets what only this table still holds, once the other side has its last changes; gives the numbers, for the
        other side to forget too."""
        gone = []
        for number in list(self.objects):
            alone = sys.getrefcount(self.objects[number]) <= _ONLY_HERE
            if alone and _same(_flat(self.objects[number]), self.seen[number]):
                self.forget(number)
                gone.append(number)
        return gone

    def forget(self, number: int) -> None:
        """Stops sharing a container."""
        value = self.objects.pop(number, None)
        if value is not None:
            del self.numbers[id(value)]
            del self.seen[number]

    def _share(self, value: Any) -> Any:
        number = self.next
        self.next += 2
        self._know(number, value)
        self.told.append((number, None))
        return (_NEW, number, self._content(value, number))

    def _know(self, number: int, value: Any) -> None:
        self.objects[number] = value
        self.numbers[id(value)] = number
        self.seen[number] = ()

    def _content(self, value: Any, number: int) -> Any:
        flat = self.seen[number] = _flat(value)
        kind = type(value)
        if kind is bytearray:
            return flat
        packed = [self.pack(item) for item in flat]
        if kind is list:
            return packed
        keys = packed[::2] if kind is dict else packed
        plain = all(type(key) in _LEAVES for key in keys)
        if kind is dict:
            return dict(zip(keys, packed[1::2])) if plain else ("d", packed)  # noqa: B905 (3.9)
        return set(keys) if plain else ("s", packed)

    def _take(self, number: Any, content: Any) -> Any:
        if type(number) is not int or number % 2 != self.theirs or number in self.objects:
            raise BadMessage("a number that is not the sender's to give")
        kind = type(content)
        if kind is tuple:
            made: Any = {"d": dict, "s": set}[content[0]]()
        else:
            made = bytearray() if kind is bytes else kind()
        if type(made) not in _SHARED:
            raise BadMessage(f"a shared {kind.__name__}")
        self._know(number, made)
        self._fill(number, made, content)
        return made

    def _fill(self, number: int, value: Any, content: Any) -> None:
        kind = type(value)
        if kind is bytearray:
            value[:] = bytes(content)
        elif kind is list:
            value[:] = [self.unpack(item) for item in _checked(list, content)]
        elif kind is set:
            items = [self.unpack(item) for item in (content[1] if type(content) is tuple else _checked(set, content))]
            values.check_hashes(items, "set", 0)
            value.clear()
            value.update(items)
        else:
            flat = content[1] if type(content) is tuple else list(chain.from_iterable(_checked(dict, content).items()))
            unpacked = [self.unpack(item) for item in flat]
            values.check_hashes(unpacked[::2], "dict", 0)
            value.clear()
            value.update(zip(unpacked[::2], unpacked[1::2]))  # noqa: B905 (3.9)
        self.seen[number] = _flat(value)


def _checked(kind: Any, content: Any) -> Any:
    if type(content) is not kind:
        raise BadMessage(f"a {type(content).__name__} for a {kind.__name__}")
    return content


def _flat(value: Any) -> Any:
    kind = type(value)
    if kind is bytearray:
        return bytes(value)
    return tuple(chain.from_iterable(tuple(value.items()))) if kind is dict else tuple(value)


def _same(now: Any, before: Any) -> bool:
    """Unchanged, judged by identity: what an item holds is looked at under its own number."""
    if type(now) is bytes:
        return bool(now == before)
    return len(now) == len(before) and all(map(is_, now, before))


def _only_here() -> int:
    table = {0: []}  # type: ignore[var-annotated]
    for number in list(table):
        return sys.getrefcount(table[number])
    return 0


_SHARED = frozenset((list, dict, set, bytearray))
_ONLY_HERE = _only_here()


# The well-known types: how each goes, and how it comes. Exactly these; an instance of a subclass goes to `export`. They
# are known by name, so that no module is imported for a type that nobody uses.


def _loaded(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(__import__(module), attribute)


def _zone(value: Any) -> Any:
    """A fixed offset as a timedelta; any other zone by itself."""
    zone = value.tzinfo
    return zone.utcoffset(None) if type(zone).__name__ == "timezone" else zone


def _zoned(kind: Any, *parts: Any) -> Any:
    *numbers, fold, zone = parts
    if type(zone).__name__ == "timedelta":
        zone = _loaded("datetime.timezone")(zone)
    return kind(*numbers, zone, fold=fold)


def _clock(value: Any) -> tuple[Any, ...]:
    return value.hour, value.minute, value.second, value.microsecond, value.fold, _zone(value)


def _day(value: Any) -> tuple[Any, ...]:
    return value.year, value.month, value.day


_PATHS = ("PosixPath", "PurePosixPath", "_local.PosixPath", "_local.PurePosixPath")  # the latter of Python 3.13
_To = Callable[[Any], Any]
_From = Callable[..., Any]
_TYPES: dict[str, tuple[_To, _From]] = {
    "builtins.complex": (lambda v: (v.real, v.imag), lambda kind, *parts: kind(*parts)),
    "builtins.range": (lambda v: (v.start, v.stop, v.step), lambda kind, *parts: kind(*parts)),
    "builtins.slice": (lambda v: (v.start, v.stop, v.step), lambda kind, *parts: kind(*parts)),
    "builtins.frozenset": (tuple, lambda kind, *items: kind(items)),
    "decimal.Decimal": (lambda v: (str(v),), lambda kind, text: kind(_checked(str, text))),
    "fractions.Fraction": (lambda v: (v.numerator, v.denominator), lambda kind, *parts: kind(*parts)),
    "datetime.date": (_day, lambda kind, *parts: kind(*parts)),
    "datetime.time": (_clock, _zoned),
    "datetime.datetime": (lambda v: (*_day(v), *_clock(v)), _zoned),
    "datetime.timedelta": (lambda v: (v.days, v.seconds, v.microseconds), lambda kind, *parts: kind(*parts)),
    "collections.Counter": (lambda v: (tuple(v.items()),), lambda kind, items: kind(dict(items))),
    "collections.OrderedDict": (lambda v: (tuple(v.items()),), lambda kind, items: kind(items)),
    "collections.defaultdict": (lambda v: (v.default_factory, tuple(v.items())), lambda kind, *parts: kind(*parts)),
    "collections.deque": (lambda v: (tuple(v), v.maxlen), lambda kind, *parts: kind(*parts)),
    **{f"pathlib.{name}": (lambda v: (str(v),), lambda kind, text: kind(_checked(str, text))) for name in _PATHS},
    "builtins.ellipsis": (lambda v: (), lambda kind: ...),
    "builtins.NotImplementedType": (lambda v: (), lambda kind: NotImplemented),
}
_SINGLE = ("builtins.ellipsis", "builtins.NotImplementedType")


def _packer(kind: type) -> Callable[[Heap, Any], Any] | None:
    name = f"{kind.__module__}.{kind.__qualname__}"
    known = _TYPES.get(name)
    if known is None:
        return _numpy_packer(kind)
    return lambda heap, value: (_STD, name, *[heap.pack(part) for part in known[0](value)])


def _standard(heap: Heap, name: Any, *parts: Any) -> Any:
    if name in ("array", "scalar"):
        return (_to_array if name == "array" else _to_scalar)(*parts)
    make = _TYPES[name][1]
    unpacked = [heap.unpack(part) for part in parts]
    if name == "builtins.frozenset" or name.startswith("collections."):
        _check_members(name, unpacked)
    return make(None if name in _SINGLE else _loaded(name), *unpacked)


def _check_members(name: str, parts: list[Any]) -> None:
    items = parts if name == "builtins.frozenset" else parts[0 if name != "collections.defaultdict" else 1]
    if name != "collections.deque":
        values.check_hashes([item if name == "builtins.frozenset" else item[0] for item in items], name, 0)


def _numpy_packer(kind: type) -> Callable[[Heap, Any], Any] | None:
    numpy = sys.modules.get("numpy")
    if numpy is None or kind.__module__ != "numpy":
        return None
    if kind is getattr(numpy, "ndarray", None):
        return lambda heap, value: _array(heap, value, "array")
    return (lambda heap, value: _array(heap, value, "scalar")) if issubclass(kind, numpy.generic) else None


def _array(heap: Heap, value: Any, name: str) -> Any:
    if value.dtype.kind not in "?biufcSUMm":
        return heap.export(value)
    return (_STD, name, value.dtype.str, tuple(value.shape), value.tobytes())


def _to_array(dtype: Any, shape: Any, data: Any) -> Any:
    if not _DTYPE.fullmatch(dtype):
        raise BadMessage("no type of numbers")
    numpy = __import__("numpy")
    return numpy.frombuffer(bytearray(_checked(bytes, data)), dtype=dtype).reshape(shape)


def _to_scalar(dtype: Any, shape: Any, data: Any) -> Any:
    return _to_array(dtype, (), data)[()]


class Link:
    """One end of the connection between two jails: whole messages, each with the changes that go with it.

    `answer` does what a request of the other side asks for, and sends its reply: "value" or "raise" with what belongs to
    it. Either side may ask while it answers. Files go with the outermost requests, which one side `leads`, and with
    the replies to them."""

    def __init__(
        self, fd: int, heap: Heap, folders: Any, answer: Callable[[str, list[Any]], None], leads: bool = False
    ) -> None:
        self.fd = fd
        self.heap = heap
        self.folders = folders
        self.answer = answer
        self.leads = leads
        self.asking = 0
        self.rest = b""

    def ask(self, kind: str, *body: Any, dropped: Any = ()) -> list[Any]:
        """A request's value, and what came with it. Raises what the other side raised."""
        self.send(kind, *body, dropped=dropped, files=self.leads and not self.asking)
        return self.listen()

    def listen(self) -> list[Any]:
        """The next reply; requests that come first are answered."""
        self.asking += 1
        try:
            return self._reply()
        finally:
            self.asking -= 1

    def _reply(self) -> list[Any]:
        while True:
            kind, reply = self.receive()
            if kind in ("value", "large", "raise") and not reply:
                raise BadMessage("an empty reply")
            if kind == "value":
                return reply
            if kind == "large":
                raise TooLarge(str(reply[0]))
            if kind == "raise":
                raise reply[0] if isinstance(reply[0], BaseException) else BadMessage("raised what is no exception")
            self.answer(kind, reply)

    def reply(self, kind: str, *body: Any) -> None:
        """The answer to the other side's request."""
        self.send(kind, *body, files=not self.leads and not self.asking)

    def send(self, kind: str, *body: Any, dropped: Any = (), files: bool = False) -> None:
        """One message. TooLarge where it is; the other side has then heard nothing."""
        heap = self.heap
        heap.told = []
        try:
            packed = [heap.pack(part) for part in body]
            changed = self.folders.changes() if files else []
            message = (kind, heap.changes(), list(dropped), changed, packed)
            data = values.encode(message, MAX_BYTES, MAX_NODES, MAX_DEPTH)
        except BaseException as error:
            heap.take_back()
            if isinstance(error, values.TooLarge):
                raise TooLarge(error.what) from None
            raise
        view = memoryview(len(data).to_bytes(8, "big") + data)
        try:
            while view:
                view = view[os.write(self.fd, view) :]
        except OSError:
            raise BadMessage("the other side is gone") from None

    def receive(self) -> tuple[str, list[Any]]:
        """The next message: its kind and its body."""
        try:
            message = values.decode(self._frame(), MAX_BYTES, MAX_NODES, MAX_DEPTH)
            kind, changes, dropped, files, packed = message
            self.folders.apply(files)
            body = [self.heap.unpack(part) for part in _checked(list, packed)]
            self.heap.apply(changes)
            for number in dropped:
                self.heap.forget(number)
            return _checked(str, kind), body
        except _GARBAGE as error:
            raise BadMessage(f"{type(error).__name__}: {error!s:.200}") from None

    def _frame(self) -> bytes:
        data = self.rest
        while len(data) < 8 or len(data) - 8 < int.from_bytes(data[:8], "big"):
            if len(data) >= 8 and int.from_bytes(data[:8], "big") > MAX_BYTES:
                raise BadMessage("a message longer than any may be")
            try:
                more = os.read(self.fd, 1 << 18)
            except OSError:
                more = b""
            if not more:
                raise BadMessage("the other side is gone")
            data += more
        size = 8 + int.from_bytes(data[:8], "big")
        self.rest = data[size:]
        return data[8:size]


#: What building values from made-up parts may raise.
_GARBAGE = (ArithmeticError, AttributeError, ImportError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
