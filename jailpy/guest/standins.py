"""The test code's side: what stands in for a program's functions, classes and instances.

A stand-in is a call into the program's jail. Its value is data that came over: a plain value, or another stand-in. What
stands for an instance never equals a plain value and never meets one in an operator, for then the program would be told
the value that is expected and asked whether it is the right one. Instances that the test code made itself, by calling
the class, are what is tested: they may meet plain values, except that equality stays what it is.

Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import builtins
import io
import itertools
import os
import sys
import types
import weakref
from typing import Any, Callable  # noqa: UP035  # Python 3.9 has no other

import asking
import heap
from checks import Checks
from folders import Folders
from modules import OwnModule
from operators import ARITHMETIC, OPERATORS

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


class NotHere(TypeError):
    """A test cannot be run in another jail than the program's. Nothing that such a test catches makes it pass."""

    first: NotHere | None = None

    def __init__(self, what: str) -> None:
        NotHere.first = NotHere.first or self
        super().__init__(f"{what}; a test that needs this must run beside the program: in_process=True")


class ForeignModule:
    """A module that the program has; as the test code's own it is good only where that names it so."""

    def __init__(self, name: str) -> None:
        self.name = name


class Gone(BaseException):
    """The program's jail ended, or sent what is no message. No test code can go on from here."""


class Peer:
    """The program, as the test code's jail sees it."""

    def __init__(
        self, fd: int, folders: Folders, namespace: dict[str, Any], own: frozenset[str] = frozenset(("__main__",))
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
        return self._stand_in(type(reply[0]), reply[0]._jailpy_at[1], True) if made and _is_instance(reply[0]) else reply[0]

    def _tell_place(self) -> None:
        """Where the test code is and its environment are where the program is and its, as in one process."""
        folder, variables = os.getcwd(), _variables()
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
        if isinstance(value, _Bound):
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
            return _coroutine(value)
        return value

    def _class(
        self, number: int, name: str, module: str, doc: Any, bases: Any, plain: str, special: Any, methods: Any
    ) -> Any:
        found = [self.link.heap.unpack(base) for base in bases]
        parents = tuple(base for base in found if isinstance(base, Class) or _is_error(base))
        if any(issubclass(parent, BaseException) for parent in parents):
            root: tuple[type, ...] = (Error,)
        elif plain in _IMMUTABLE:
            root = (Plain, _IMMUTABLE[plain])
        else:
            root = (Mutable if plain in _MUTABLE else Instance,)
        missing = tuple(each for each in root if not any(issubclass(parent, each) for parent in parents))
        shown = special if root[0] in (Instance, Mutable) else [each for each in special if each in _SHOWN]
        made = Class.make(self, number, name, module, doc, (*missing, *parents), shown, methods)
        if plain == "enum":
            type.__setattr__(made, "_jailpy_enum", True)
        return made

    def _function(self, number: int, name: str, module: str, doc: Any) -> Any:
        code = _function_code(self, number)
        made = types.FunctionType(_elsewhere(code), self.namespace, name[:200], None, code.__closure__)
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


class Class(type):
    """The class of stand-ins for a program's classes."""

    _jailpy_at: tuple[Peer, int, bool]

    @classmethod
    def make(
        cls,
        peer: Peer,
        number: int,
        name: str,
        module: str,
        doc: Any,
        bases: tuple[Any, ...],
        special: Any,
        methods: Any,
    ) -> Any:
        """A stand-in for one class of the program."""
        space: dict[str, Any] = {"__module__": module, "__doc__": doc, "_jailpy_at": (peer, number, False)}
        given = {*vars(Instance), *vars(Mutable)} if any(issubclass(base, Instance) for base in bases) else set()
        for each in special:
            if each in OPERATORS and each not in given:
                space[each] = _operator(each)
        if "__call__" in special:
            space["__call__"] = _call
        fixed = {each for base in bases for line in base.__mro__ if not isinstance(line, Class) for each in dir(line)}
        for method, how, text in methods:
            if method == "__init__" or (asking.is_told(method) and method not in fixed):
                space[method] = _method(peer, method, how, text)
        return type.__new__(cls, name, bases, space)

    def __new__(cls, name: str, bases: tuple[Any, ...], space: dict[str, Any]) -> Any:
        """Only roots come here, and test code that derives a class of its own from the program's."""
        if any(isinstance(base, Class) and hasattr(base, "_jailpy_at") for base in bases):
            raise NotHere(f"{name} is derived from a class of the program's")
        return type.__new__(cls, name, bases, space)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        # An enumeration only looks up what there is.
        return cls._jailpy_at[0].ask("call", cls, args, kwargs, made="_jailpy_enum" not in vars(cls))

    def __getattr__(cls, name: str) -> Any:
        asking.check_attribute(name)
        return cls._jailpy_at[0].ask("get", cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        cls._jailpy_at[0].ask("set", cls, name, value)

    def __iter__(cls) -> Any:
        return iter(_content(cls))

    def __len__(cls) -> int:
        return len(_content(cls))

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, key: Any) -> Any:
        return cls._jailpy_at[0].ask("operator", cls, "__getitem__", (key,))

    def __contains__(cls, item: Any) -> bool:
        return any(item is each or item == each for each in _content(cls))


class _Bound:
    """Has a place in the program's jail: (peer, number, whether the test code made it)."""

    _jailpy_at: tuple[Peer, int, bool]


class _Attributes(_Bound, metaclass=Class):
    """Attributes that are not found here are the program's."""

    def __getattr__(self, name: str) -> Any:
        asking.check_attribute(name)
        _refuse_telling(self, name)
        return self._jailpy_at[0].ask("get", self, name)


class Plain(_Attributes):
    """A value of an immutable plain type with a class of the program's around it: the value is what counts."""


class Error(_Attributes):
    """An exception of the program's own."""

    _jailpy_text = ""

    def __str__(self) -> str:
        return self._jailpy_text


class Instance(_Attributes):
    """An instance of a class of the program's."""

    def __setattr__(self, name: str, value: Any) -> None:
        self._jailpy_at[0].ask("set", self, name, value)
        if isinstance(getattr(type(self), name, None), types.FunctionType):
            object.__setattr__(self, name, value)  # a method that is hidden from now on, here too

    def __delattr__(self, name: str) -> None:
        self._jailpy_at[0].ask("delete", self, name)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # vars() is about the program's instance
        return self._jailpy_at[0].ask("get", self, "__dict__")

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, _Bound):
            return NotImplemented
        return self._jailpy_at[0].ask("operator", self, "__eq__", (other,))

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, _Bound):
            return NotImplemented
        return self._jailpy_at[0].ask("operator", self, "__ne__", (other,))

    def __hash__(self) -> int:
        return hash(("jailpy", self._jailpy_at[0].ask("operator", self, "__hash__", ())))

    def __str__(self) -> str:
        return str(self._jailpy_at[0].ask("operator", self, "__str__", ()))

    def __repr__(self) -> str:
        return str(self._jailpy_at[0].ask("operator", self, "__repr__", ()))

    def __format__(self, spec: str) -> str:
        return str(self._jailpy_at[0].ask("operator", self, "__format__", (spec,)))

    def __deepcopy__(self, memo: Any) -> Any:
        return self._jailpy_at[0].ask("operator", self, "__deepcopy__", (), made=self._jailpy_at[2])

    def __copy__(self) -> Any:
        return self._jailpy_at[0].ask("operator", self, "__copy__", (), made=self._jailpy_at[2])

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise NotHere("an instance of the program's cannot be pickled")


class Mutable(Instance):
    """An instance of a class derived from list, dict, set or bytearray: equal to a plain value that its content equals."""

    def __eq__(self, other: object) -> Any:
        peer = self._jailpy_at[0]
        mine = peer.ask("plain", self)
        return bool(mine == (peer.ask("plain", other) if isinstance(other, Mutable) else other))

    def __ne__(self, other: object) -> Any:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # as of what it is derived from


_MEASURES = ("__len__", "__iter__", "__contains__", "__reversed__")
_SHOWN = ("__str__", "__repr__", "__format__")
_IMMUTABLE: dict[str, type] = {kind.__name__: kind for kind in (int, float, str, bytes, tuple, frozenset, complex)}


_MUTABLE = ("list", "dict", "set", "bytearray")


def _operator(name: str) -> Callable[..., Any]:
    """A special method that asks the program, where it may."""

    def forward(self: Any, *args: Any) -> Any:
        peer, _, made = self._jailpy_at
        if name in _MEASURES and not made and _is_container(self):
            content = _content(self)
            return OPERATORS[name](content, *args)
        if name in ARITHMETIC and not made and not all(isinstance(arg, _Bound) for arg in args):
            if name == "__contains__":
                return any(item is args[0] or item == args[0] for item in self)
            peer.ask("operator", self, name, args)  # that the program refuses, too, may be what is tested
            raise NotHere(
                f"{name} of a {type(self).__name__} that the program handed over with a {type(args[0]).__name__}: "
                "where a plain value is expected, only a plain value will do"
            )
        if name == "__exit__":
            error, traceback = (*args, None, None, None)[1:3]
            swallows = peer.ask("operator", self, name, (*args[:2], None))  # no traceback crosses
            return swallows and not (error is not None and peer.checks.would_be_lost(sys._getframe(1), error, traceback))
        return peer.ask("operator", self, name, args, made=made and name in ARITHMETIC)

    return forward


async def _coroutine(instance: Any) -> Any:
    """What asyncio takes for a coroutine: the program's is run to its end, in the program's jail, when it is awaited."""
    return instance._jailpy_at[0].ask("operator", instance, "__await__", ())


def _is_container(value: Any) -> bool:
    """Whether it can be counted and gone through again."""
    kind = type(value)
    sized = hasattr(kind, "__len__") and hasattr(kind, "__iter__") and not hasattr(kind, "__next__")
    return isinstance(value, Mutable) or sized


def _content(container: Any) -> Any:
    """What is in a container that the program handed over, which is one thing as long as the program is asked nothing
    else: what was counted is what can be found in it."""
    peer, number, _ = container._jailpy_at
    asked, content = peer.contents.get(number, (-1, None))
    if asked != peer.asked:
        if isinstance(container, Mutable):
            content = peer.ask("plain", container)
        else:
            size = peer.ask("operator", container, "__len__", ())
            content = list(itertools.islice(peer.ask("operator", container, "__iter__", ()), size + 1))
            if len(content) != size:
                raise NotHere(f"a {type(container).__name__} has another length than items")
        peer.contents[number] = (peer.asked, content)
    return content


def _call(self: Any, *args: Any, **kwargs: Any) -> Any:
    return self._jailpy_at[0].ask("call", self, args, kwargs)


def _refuse_telling(value: Any, name: str) -> None:
    if name in asking.TELLING and not isinstance(value, type) and not value._jailpy_at[2]:
        raise NotHere(f"{name} asks a {type(value).__name__} that the program handed over whether a value is the right one")


def _method(peer: Peer, name: str, how: str, doc: Any) -> Any:
    refuse = _refuse_telling  # what is made below has the test code's globals

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse(self, name)
        return peer.ask("method", self, name, args, kwargs)

    if how == "p":
        return property(
            lambda self: peer.ask("get", self, name), lambda self, value: peer.ask("set", self, name, value), None, doc
        )
    made: Any = types.FunctionType(_elsewhere(method), peer.namespace, name, None, method.__closure__)
    made.__doc__ = doc
    if how == "s":
        return classmethod(made)  # asked of the class, where the program finds what it is
    return classmethod(made) if how == "c" else made


def _function_code(peer: Peer, number: int) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        return peer.ask("call", function_itself(), args, kwargs)

    def function_itself() -> Any:
        return peer.told[number]

    return function


def _variables() -> dict[str, str]:
    """The environment, without what pytest says of itself in it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def _elsewhere(function: Any) -> types.CodeType:
    """Its code, which nobody who looks for source takes for the program's."""
    return function.__code__.replace(co_filename="<in the program's jail>")  # type: ignore[no-any-return]


def _well_known(name: Any, module: Any) -> Any:
    """The test code's own function or class of that name: one of a module without side effects, or an exception of the
    standard library's."""
    top = module.partition(".")[0]
    if module not in PURE and (top in _UNTRUE or top not in getattr(sys, "stdlib_module_names", PURE)):
        return None
    if name.startswith("_") or (module not in sys.modules and module not in PURE):
        return None
    found = getattr(sys.modules.get(module) or __import__(module), name, None)
    return found if (module in PURE and callable(found)) or _is_error(found) else None


def is_real(value: Any, name: str) -> bool:
    """Whether it is of the library module of that name, rather than something of the program's."""
    found: Any = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return found == name and not hasattr(value, "_jailpy_at")


def _is_instance(value: Any) -> bool:
    return isinstance(type(value), Class) and issubclass(type(value), Instance)


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def _is_mock(value: Any) -> bool:
    mock: Any = sys.modules.get("unittest.mock")
    return mock is not None and isinstance(value, mock.NonCallableMock)


def _public() -> tuple[type, ...]:
    """Classes whose instances are there to be looked at."""
    mock: Any = sys.modules.get("unittest.mock")
    return (io.StringIO, io.BytesIO, mock.NonCallableMock) if mock else (io.StringIO, io.BytesIO)


def _number_of(peer: Peer, value: Any) -> int | None:
    """Under which number the program knows a stand-in."""
    kinds = (_Bound, OwnModule, types.FunctionType)
    if isinstance(value, kinds) or (isinstance(value, Class) and "_jailpy_at" in vars(value)):
        at: Any = getattr(value, "_jailpy_at", None)
        return None if at is None else at[1]
    return peer.numbers.get(id(value))


def _exception(kind: Any, args: Any, text: Any) -> BaseException:
    if not _is_error(kind) or type(args) is not tuple:
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
    if not (isinstance(kind, type) and issubclass(kind, base) and base.__name__ in _IMMUTABLE):
        raise heap.BadMessage("a plain value of another type than it says")
    return base.__new__(kind, value) if kind is not base else value
