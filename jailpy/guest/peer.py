"""The program, as the test code's jail sees it: what goes out, what comes in, and what it may do with what it was lent.

Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
import types
import weakref
from typing import Any

import heap
from checks import Checks
from folders import Folders
from modules import OwnModule
from operators import OPERATORS
from standins import (
    IMMUTABLE,
    MUTABLE,
    SHOWN,
    Bound,
    Class,
    Error,
    Gone,
    Instance,
    Mutable,
    NotHere,
    Plain,
    coroutine,
    elsewhere,
    function_code,
    is_error,
    is_instance,
)

#: Modules whose functions and classes are the test code's own, however the program came by them.
PURE = frozenset(
    (
        *("bisect", "_bisect", "cmath", "collections", "copy", "datetime", "decimal", "fractions"),
        *("functools", "_functools", "heapq", "_heapq", "itertools", "json", "math", "operator", "_operator"),
        *("random", "re", "statistics", "string", "time"),
    )
)
#: What of the test code's the program may call and do nothing else with; `str.upper` is a method descriptor.
_CALLABLES = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType, type),
    *(types.MethodDescriptorType, types.ClassMethodDescriptorType),
)
_NUMERIC = ("numpy", "pandas", "scipy", "sympy", "pytest")
_UNTRUE = ("unittest", "pytest", "_pytest")  # their exceptions mean that a test is skipped
#: What these do, they do where the test code is: they would run code there, or read its text.
_MIGHTY = (
    *(eval, exec, compile, open, io.open_code, getattr, setattr, delattr, vars, globals, locals, builtins.__import__),
    *(str.format, str.format_map),
)
_MOST_TOLD = 10_000


class ForeignModule:
    """A module that the program has; as the test code's own it is good only where that names it so."""

    def __init__(self, name: str) -> None:
        self.name = name


class Peer:
    """The program, as the test code's jail sees it."""

    def __init__(
        self, fd: int, folders: Folders, namespace: dict[str, Any], own: frozenset[str] = heap.MAIN
    ) -> None:
        self.namespace = namespace
        self.own = own  # the test code's top-level modules
        self.modules: dict[int, OwnModule] = {}
        self.told: dict[int, Any] = {}
        self.real: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        self.instances: weakref.WeakValueDictionary[tuple[int, bool], Any] = weakref.WeakValueDictionary()
        self.exported: dict[int, Any] = {}
        self.exported_numbers: dict[int, int] = {}
        self.checks = Checks({})
        self.expects_stop = False
        self.asked = 0
        self.contents: dict[int, tuple[int, Any]] = {}
        self.lost: BaseException | None = None
        self.failure: BaseException | None = None  # of an assertion in a function that was lent, whoever caught it
        self.streams = sys.stdout, sys.stderr, sys.stdin, builtins.input
        self.captures: tuple[bool, Any] = (False, None)
        self.place = os.getcwd(), _variables()
        self.environment: dict[Any, Any] = {}
        self.link = heap.Link(fd, heap.Heap(0, self.export, self.adopt), folders, self.answer, leads=True)

    def __deepcopy__(self, memo: Any) -> Peer:
        return self

    def listen(self) -> tuple[frozenset[str], dict[str, Any]]:
        """What the program says of itself, once it is loaded: its names, and what some of them stand for."""
        try:
            names, told = self.link.listen()
            if type(names) is not tuple or type(told) is not tuple:
                raise heap.BadMessage("a greeting that is none")
            return frozenset(name for name in names if type(name) is str), dict(told)
        except (heap.BadMessage, TypeError, ValueError) as error:
            self.lost = Gone(str(error))
            raise self.lost from None

    def ask(self, kind: str, *body: Any, made: bool = False) -> Any:
        """What the program answers. Raises what it raises; Gone where it is no more."""
        if self.lost is not None:
            raise self.lost
        self.asked += 1
        try:
            self._tell_place()
            self._tell_streams()
            reply = self.link.ask(kind, *body, dropped=self.link.heap.sweep())
        except heap.BadMessage as error:
            self.lost = Gone(str(error))
            raise self.lost from None
        except StopIteration as error:
            if self.expects_stop or (kind == "operator" and body[1] == "__next__"):
                raise
            # In a loop of the test code's over map or zip it would end the loop, with nothing checked (as PEP 479).
            raise RuntimeError("the program raised StopIteration") from error
        except BaseException as error:
            if type(error).__module__.partition(".")[0] in _UNTRUE:  # the test code's own, back from the program
                raise RuntimeError(f"the program raised {type(error).__name__}") from None
            raise
        self._hear_texts(reply[1:])
        return self._stand_in(type(reply[0]), reply[0]._jailpy_at[1], True) if made and is_instance(reply[0]) else reply[0]

    def _tell_place(self) -> None:
        """Where the test code is and its environment are where the program is and its, as in one process."""
        folder, raw = os.getcwd(), os.environ._data  # type: ignore[attr-defined]  # compared ten times as quickly
        if folder == self.place[0] and raw == self.environment:
            return
        self.environment = dict(raw)
        variables = _variables()
        if (folder, variables) != self.place:
            before = self.place[1]
            changed = {name: variables.get(name) for name in variables.keys() | before.keys()}
            changed = {name: value for name, value in changed.items() if value != before.get(name)}
            self.place = folder, variables
            self._hear_texts(self.link.ask("place", folder, changed)[1:])

    def _tell_streams(self) -> None:
        stdout, stderr, stdin, read = self.streams
        capture = sys.stdout is not stdout or sys.stderr is not stderr
        if read is not builtins.input:
            given: Any = builtins.input
        else:
            given = None if sys.stdin is stdin else sys.stdin.readline
        if self.captures[0] != capture or (self.captures[1] is not given and self.captures[1] != given):
            self.captures = (capture, given)
            self._hear_texts(self.link.ask("streams", capture, given)[1:])

    @staticmethod
    def _hear_texts(texts: list[Any]) -> None:
        for stream, text in zip((sys.stdout, sys.stderr), texts):  # noqa: B905 (3.9)
            if text:
                stream.write(str(text))

    # What goes out

    def export(self, value: Any) -> Any:
        number = _number_of(self, value)
        if number is not None:
            return (heap.mark("@own"), number)
        number = self.exported_numbers.get(id(value))
        if number is None:
            number = self.exported_numbers[id(value)] = len(self.exported)
            self.exported[number] = value
        if isinstance(value, BaseException):
            args = tuple(
                [self.link.heap.pack(arg if type(arg) in (int, str, float, bytes) else str(arg)) for arg in value.args]
            )
            known = next(kind.__name__ for kind in type(value).__mro__ if heap.NAMED.get(kind.__name__) is kind)
            return (heap.mark("@error"), number, known, args)
        kind, special = self._kind(value)
        return (heap.mark("@back"), number, kind, getattr(value, "__name__", type(value).__name__), special)

    def _kind(self, value: Any) -> tuple[str, tuple[str, ...]]:
        """How the program may use a value of the test code's; NotHere where there is no safe way."""
        if any(value is each for each in _MIGHTY):
            raise NotHere(f"{value.__name__} would give the program the test code's jail; it cannot be lent")
        if isinstance(value, _CALLABLES):
            return "function", ()
        kind = type(value)
        ours = kind.__module__.partition(".")[0] in self.own or isinstance(value, _public())
        if not ours and hasattr(kind, "__next__"):
            return "iterator", ("__iter__", "__next__")
        if not ours and callable(value) and kind.__module__ in ("functools", "operator"):
            return "function", ()
        if not ours:
            raise NotHere(f"a {kind.__name__} of the test code's cannot be lent to the program")
        special = tuple(
            name for name in (*OPERATORS, "__call__") if getattr(kind, name, None) is not getattr(object, name, None)
        )
        return "object", special

    # What comes in

    def adopt(self, tag: str, item: Any) -> Any:
        if tag == "@back":
            return self.exported[item[1]]
        if tag == "@known":
            return self.real[item[1]] if item[1] in self.real else self.told[item[1]]
        if tag == "@module":
            return self._module(item[1])
        number = item[1]
        if type(number) is not int or len(self.told) > _MOST_TOLD:
            raise heap.BadMessage("too many things with names")
        if tag == "@own_module":
            return self.modules.get(number) or self._own_module(number, *item[2:])
        if tag in ("@class", "@function"):
            name, module = item[2:4]
            self.told[number] = (self._class if tag == "@class" else self._function)(*item[1:])
            real = _well_known(name, module)
            if real is not None:
                self.real[number] = real
                self.numbers[id(real)] = number
            return real or self.told[number]
        return self._instance(tag, number, *item[2:])

    def _instance(self, tag: str, number: int, packed_class: Any, *rest: Any) -> Any:
        kind = self.link.heap.unpack(packed_class)
        if tag != "@error":
            kind = self.told[packed_class[1]]
        if tag == "@object" and isinstance(kind, type) and issubclass(kind, Instance):
            return self._stand_in(kind, number, False)
        value: Any
        if tag == "@error":
            value = _exception(kind, self.link.heap.unpack(rest[0]), rest[1])
        elif tag == "@plain":
            value = _plain_instance(kind, self.link.heap.unpack(rest[0]))
        else:
            raise heap.BadMessage("an instance of what is no class")
        if isinstance(value, Bound):
            object.__setattr__(value, "_jailpy_at", (self, number, False))
        return value

    def _stand_in(self, kind: Any, number: int, made: bool) -> Any:
        """The one stand-in for an instance, or the one that the test code has for it as of its own making."""
        value = self.instances.get((number, made))
        if value is None:
            value = object.__new__(kind)
            object.__setattr__(value, "_jailpy_at", (self, number, made))
            self.instances[(number, made)] = value
        if kind.__name__ == "coroutine" and kind.__module__ == "builtins":
            return coroutine(value)
        return value

    def _class(
        self, number: int, name: str, module: str, doc: Any, bases: Any, plain: str, special: Any, methods: Any
    ) -> Any:
        found = [self.link.heap.unpack(base) for base in bases]
        parents = tuple(base for base in found if isinstance(base, Class) or is_error(base))
        if any(issubclass(parent, BaseException) for parent in parents):
            root: tuple[type, ...] = (Error,)
        elif plain in IMMUTABLE:
            root = (Plain, IMMUTABLE[plain])
        else:
            root = (Mutable if plain in MUTABLE else Instance,)
        missing = tuple(each for each in root if not any(issubclass(parent, each) for parent in parents))
        shown = special if root[0] in (Instance, Mutable) else [each for each in special if each in SHOWN]
        made = Class.make(self, number, name, module, doc, (*missing, *parents), shown, methods)
        if plain == "enum":
            type.__setattr__(made, "_jailpy_enum", True)
        return made

    def _function(self, number: int, name: str, module: str, doc: Any) -> Any:
        code = function_code(self, number)
        made = types.FunctionType(elsewhere(code), self.namespace, name[:200], None, code.__closure__)
        made.__doc__, made.__module__ = doc, module
        made._jailpy_at = (self, number, False)  # type: ignore[attr-defined]  # how it is known again
        return made

    def _own_module(self, number: int, name: str, doc: Any) -> OwnModule:
        if len(self.modules) > _MOST_TOLD:
            raise heap.BadMessage("too many modules")
        made = self.modules[number] = OwnModule(self, number, str(name)[:200], doc)
        return made

    @staticmethod
    def _module(name: str) -> Any:
        """Only what runs no code of its caller's choice, and whose import does nothing else."""
        top, *inner = name.split(".")
        if name in PURE or (top in _NUMERIC and not any(part.startswith("_") for part in inner)):
            __import__(name)
            return sys.modules[name]
        return ForeignModule(name)

    # Requests of the program

    def answer(self, kind: str, body: list[Any]) -> None:
        """What the program may do with what the test code lent it, and nothing else."""
        try:
            number, *rest = body
            value: Any = self._lent(kind, self.exported[number], *rest)
            reply = "value"
        except (heap.BadMessage, heap.TooLarge, Gone):
            raise
        except BaseException as error:  # the program hears of it, and what it does then is its own
            reply, value = "raise", error
            if isinstance(error, AssertionError) and not hasattr(error, "_jailpy_text"):
                self.failure = self.failure or error
        self.link.reply(reply, value)

    def _lent(self, kind: str, value: Any, *rest: Any) -> Any:
        how, special = self._kind(value)
        if kind == "call" and (how == "function" or "__call__" in special):
            args, kwargs = rest
            return value(*args, **kwargs)
        if kind == "operator" and rest[0] in special:
            return OPERATORS[rest[0]](value, *rest[1])
        if how == "object" and not rest[0].startswith("_"):
            kept = _is_mock(value) and hasattr(type(value), rest[0])  # what a mock says of how it was called
            if kind == "get" and not kept:
                return getattr(value, rest[0])
            if kind == "set" and not kept and not self._hides(value, rest[0], rest[1]):
                return setattr(value, rest[0], rest[1])
        raise AttributeError("the test code's objects can be called and their public attributes used, no more")


    def _hides(self, value: Any, name: str, new: Any) -> bool:
        """Whether what checks something would check no more: a method, or an object in whose place comes the program's."""
        if callable(getattr(type(value), name, None)):
            return True
        if _number_of(self, new) is None:
            return False
        return _is_mock(value) or type(getattr(value, name, None)).__module__ == "__main__"


def _variables() -> dict[str, str]:
    """The environment, without what pytest says of itself in it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def _well_known(name: Any, module: Any) -> Any:
    """The test code's own function or class of that name: one of a module without side effects, or an exception of the
    standard library's."""
    top = module.partition(".")[0]
    if module not in PURE and (top in _UNTRUE or top not in getattr(sys, "stdlib_module_names", PURE)):
        return None
    if name.startswith("_") or (module not in sys.modules and module not in PURE):
        return None
    found = getattr(sys.modules.get(module) or __import__(module), name, None)
    return found if (module in PURE and callable(found)) or is_error(found) else None


def is_real(value: Any, name: str) -> bool:
    """Whether it is of the library module of that name, rather than something of the program's."""
    found: Any = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return found == name and not hasattr(value, "_jailpy_at")


def _is_mock(value: Any) -> bool:
    mock: Any = sys.modules.get("unittest.mock")
    return mock is not None and isinstance(value, mock.NonCallableMock)


def _public() -> tuple[type, ...]:
    """Classes whose instances are there to be looked at."""
    mock: Any = sys.modules.get("unittest.mock")
    return (io.StringIO, io.BytesIO, mock.NonCallableMock) if mock else (io.StringIO, io.BytesIO)


def _number_of(peer: Peer, value: Any) -> int | None:
    """Under which number the program knows a stand-in."""
    kinds = (Bound, OwnModule, types.FunctionType)
    if isinstance(value, kinds) or (isinstance(value, Class) and "_jailpy_at" in vars(value)):
        at: Any = getattr(value, "_jailpy_at", None)
        return None if at is None else at[1]
    return peer.numbers.get(id(value))


def _exception(kind: Any, args: Any, text: Any) -> BaseException:
    if not is_error(kind) or type(args) is not tuple:
        raise heap.BadMessage("raised what is no exception")
    made: BaseException
    try:
        made = kind(*args) if not issubclass(kind, Error) else kind.__new__(kind, *args)
    except TypeError:  # it asks for more than it keeps as its arguments
        made = kind.__new__(kind, *args)
    made.args = args
    object.__setattr__(made, "_jailpy_text", str(text))
    return made


def _plain_instance(kind: Any, value: Any) -> Any:
    base = type(value)
    if not (isinstance(kind, type) and issubclass(kind, base) and base.__name__ in IMMUTABLE):
        raise heap.BadMessage("a plain value of another type than it says")
    return base.__new__(kind, value) if kind is not base else value
