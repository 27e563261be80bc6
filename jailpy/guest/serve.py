"""The program's side of a test in another jail: answers what the test code asks of the program's names.

Nothing here protects anybody: the program may change all of it, and then says what it could have said anyway. Marks that
go out (heap.py has the others):

    @class N NAME MODULE DOC BASES PLAIN OPERATORS METHODS    a class of the program, told once
    @function N NAME MODULE DOC                               a Python function, told once
    @object N CLASS                                           an instance
    @plain N CLASS VALUE                                      an instance of a subclass of an immutable plain type
    @error N CLASS ARGS TEXT                                  an exception
    @module NAME                                              one that the test code has too
    @own_module N NAME DOC                                    one of the program's tree
    @known N                                                  what was told before
    @back N                                                   what the test code sent

and those that come: @own N, the program's own; @back N KIND NAME OPERATORS; @error N NAME ARGS, an exception of the test
code's. Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import threading
import types
from typing import Any

import heap
from folders import Folders
from operators import OPERATORS

_IMMUTABLE = (int, float, str, bytes, tuple, frozenset, complex)
_MUTABLE = (list, dict, set, bytearray)
_PLAIN_METHODS = {types.FunctionType: "f", classmethod: "c", staticmethod: "s", property: "p"}
_DOC = 20_000
_MOST_TOLD = 100


def serve(namespace: dict[str, Any], fd: int, folders: Folders, own: frozenset[str] = heap.MAIN) -> None:
    """Answers until the other side is gone. `own` are the top-level modules that are the program's."""
    program = Program(namespace, fd, folders, own)
    try:
        program.link.reply("value", *program.names())
        while True:
            program.answer(*program.link.receive())
    except heap.BadMessage:
        pass


class Program:
    """The program, as it answers the test code."""

    def __init__(self, namespace: dict[str, Any], fd: int, folders: Folders, own: frozenset[str]) -> None:
        self.namespace = namespace
        self.own = own
        self.things: list[Any] = []  # kept alive, so that their ids stay theirs
        self.numbers: dict[int, int] = {}
        self.told: set[int] = set()  # classes and functions, which are described once
        self.backs: dict[int, Any] = {}
        self.lock = threading.RLock()
        self.busy = False
        self.captured: tuple[io.StringIO, io.StringIO] | None = None
        self.link = heap.Link(fd, heap.Heap(1, self.export, self.adopt), folders, self.answer)

    # What goes out

    def export(self, value: Any) -> Any:
        back = (
            getattr(value, "_jailpy_back", None)
            if isinstance(value, (_Remote, types.FunctionType, BaseException))
            else None
        )
        if back is not None:
            return (heap.mark("@back"), back)
        if isinstance(value, types.ModuleType):
            if self.own == heap.MAIN:
                return (heap.mark("@module"), value.__name__)
            # Of libraries too: the test code may patch what the program has of them.
            return (heap.mark("@own_module"), self._number(value), value.__name__, _text(value.__doc__))
        number = self._number(value)
        if number in self.told:
            return (heap.mark("@known"), number)
        if isinstance(value, type):
            self.told.add(number)
            return self._class(value, number)
        if type(value) is types.FunctionType and not set(vars(value)) - {"__wrapped__"}:
            self.told.add(number)
            return (heap.mark("@function"), number, value.__name__, *_told(value))
        return self._instance(value, number)

    def _number(self, value: Any) -> int:
        """Under which number the test code knows a value."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.things)
            self.things.append(value)
        return number

    def _is_foreign(self, module: Any) -> bool:
        """Built-in, or of a library: known by what its instances do, not as a class."""
        return str(module).partition(".")[0] not in self.own

    def _instance(self, value: Any, number: int) -> Any:
        pack, kind = self.link.heap.pack, type(value)
        if isinstance(value, BaseException):
            args = tuple([pack(arg if _is_plain(arg) else str(arg)) for arg in value.args])
            return (heap.mark("@error"), number, pack(kind), args, str(value)[:_DOC])
        for plain in _IMMUTABLE:
            if isinstance(value, plain):
                return (heap.mark("@plain"), number, self.export(kind), pack(_base_value(value, plain)))
        return (heap.mark("@object"), number, self.export(kind))

    def _class(self, kind: type, number: int) -> Any:
        pack = self.link.heap.pack
        line = kind.__mro__[:-1]
        told = [each for each in kind.__bases__ if not self._is_foreign(each.__module__) or issubclass(each, BaseException)]
        bases = tuple([pack(base) for base in told])
        plain = next((each.__name__ for each in (*_IMMUTABLE, *_MUTABLE) if issubclass(kind, each)), "")
        if "enum" in sys.modules and issubclass(kind, sys.modules["enum"].Enum):
            plain = plain or "enum"
        special = tuple(name for name in OPERATORS if any(_defines(base, name) for base in line))
        if any(_defines(base, "__call__") for base in line):
            special += ("__call__",)
        methods = []
        for name, value in vars(kind).items():
            how = _PLAIN_METHODS.get(type(value))
            if how and (not name.startswith("__") or name == "__init__"):
                methods.append((name, how, _text(getattr(value, "__doc__", None))))
        return (heap.mark("@class"), number, kind.__name__, *_told(kind), bases, plain, special, tuple(methods))

    # What comes in

    def adopt(self, tag: str, item: Any) -> Any:
        number = item[1]
        if tag == "@own":
            return self.things[number]
        if number in self.backs:
            return self.backs[number]
        if tag == "@error":
            made: Any = _error(*item[2:])
        elif item[2] == "function":
            made = self._function(number, item[3])
        else:
            made = _remote_class(item[3], item[4])(self, number)
        if not isinstance(made, _Remote):
            made._jailpy_back = number
        self.backs[number] = made
        return made

    def _function(self, number: int, name: str) -> Any:
        def function(*args: Any, **kwargs: Any) -> Any:
            return self.ask("call", number, args, kwargs)

        function.__name__ = function.__qualname__ = name
        return function

    def ask(self, kind: str, *body: Any) -> Any:
        """Asks the test code for something of its own, in the middle of a call."""
        with self.lock:
            if not self.busy:
                raise RuntimeError("the test code can be called back only while it waits for the program")
            return self.link.ask(kind, *body)[0]

    def answer(self, kind: str, body: list[Any]) -> None:
        """One request of the test code's, to its reply."""
        self.busy, outer = True, self.busy
        try:
            value = getattr(self, "do_" + kind)(*body)
            self._reply("value", value)
        except heap.BadMessage:
            raise
        except heap.TooLarge as error:
            self._reply("large", error.what)
        except BaseException as error:
            self._raise(error)
        finally:
            self.busy = outer

    def _raise(self, error: BaseException) -> None:
        try:
            self._reply("raise", error)
        except heap.BadMessage:
            raise
        except BaseException:  # an exception that cannot even be described
            self._reply("raise", RuntimeError(type(error).__name__))

    def _reply(self, kind: str, value: Any) -> None:
        texts = [_drained(stream) for stream in self.captured] if self.captured else []
        self.link.reply(kind, value, *texts)

    # Requests

    def names(self) -> Any:
        """All names that the test code may use, and what most tests ask for first: functions and classes."""
        names = [name for name in list(self.namespace) if type(name) is str and not name.startswith("__")]
        told = [(name, self.namespace[name]) for name in names]
        kinds = (type, types.FunctionType)
        own = [pair for pair in told if isinstance(pair[1], kinds) and not self._is_foreign(pair[1].__module__)]
        return tuple(names), tuple(own[:_MOST_TOLD])

    def do_name(self, name: str) -> Any:
        return self.namespace[name]

    def do_import(self, name: str, again: bool) -> Any:
        if again:
            sys.modules.pop(name, None)
        __import__(name)
        return sys.modules[name]

    def do_reload(self, module: Any) -> None:
        importlib.reload(module)

    def do_members(self, module: Any) -> Any:
        """The names of a module, and those that it gives to everybody."""
        public = getattr(module, "__all__", None)
        names = tuple(name for name in list(vars(module)) if type(name) is str)
        given = [name for name in names if not name.startswith("_")] if public is None else public
        return names, tuple(name for name in given if type(name) is str)

    def do_call(self, target: Any, args: Any, kwargs: Any) -> Any:
        return target(*args, **kwargs)

    def do_method(self, target: Any, name: str, args: Any, kwargs: Any) -> Any:
        return getattr(target, name)(*args, **kwargs)

    def do_get(self, target: Any, name: str) -> Any:
        return getattr(target, name)

    def do_set(self, target: Any, name: str, value: Any) -> None:
        setattr(target, name, value)

    def do_delete(self, target: Any, name: str) -> None:
        delattr(target, name)

    def do_operator(self, target: Any, name: str, args: Any) -> Any:
        return OPERATORS[name](target, *args)

    def do_plain(self, target: Any) -> Any:
        return next(_base_value(target, kind) for kind in (*_MUTABLE, *_IMMUTABLE) if isinstance(target, kind))

    def do_seed(self, module: str, args: Any) -> None:
        """The test code seeds a generator that, in one process, would be the program's too."""
        found: Any = sys.modules.get(module)
        if found is not None:
            (found.random if module == "numpy" else found).seed(*args)

    def do_place(self, folder: str, variables: Any) -> None:
        """The test code goes to another folder, or changes its environment."""
        with contextlib.suppress(OSError):  # a folder that is only there
            os.chdir(folder)
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def do_streams(self, capture: bool, read: Any) -> None:
        """The test code captures what is printed, or gives what is to be read."""
        if capture and self.captured is None:
            sys.stdout.flush()
            self.captured = io.StringIO(), io.StringIO()
            sys.stdout, sys.stderr = self.captured
        elif not capture and self.captured is not None:
            self.captured = None
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        sys.stdin = sys.__stdin__ if read is None else _Input(read)


class _Input(io.TextIOBase):
    """The test code's standard input."""

    def __init__(self, read: Any) -> None:
        self.read_line = read

    def readable(self) -> bool:
        return True

    def readline(self, size: int = -1) -> str:  # type: ignore[override]  # of TextIOBase
        return str(self.read_line())

    def read(self, size: int | None = -1) -> str:
        return "".join(iter(self.readline, ""))


class _Remote:
    """An object of the test code's: its public attributes, and its operators."""

    def __init__(self, program: Program, number: int) -> None:
        object.__setattr__(self, "_jailpy_program", program)
        object.__setattr__(self, "_jailpy_back", number)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._jailpy_program.ask("get", self._jailpy_back, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._jailpy_program.ask("set", self._jailpy_back, name, value)


def _remote_class(name: str, operators: Any) -> Any:
    def forward(operator: str) -> Any:
        return lambda self, *args: self._jailpy_program.ask("operator", self._jailpy_back, operator, args)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._jailpy_program.ask("call", self._jailpy_back, args, kwargs)

    special = {each: call if each == "__call__" else forward(each) for each in operators}
    return type(name, (_Remote,), special)


def _error(name: str, args: Any) -> BaseException:
    kind = heap.NAMED.get(name, Exception)
    made: BaseException = kind(*args)
    return made


def _told(value: Any) -> tuple[str, str | None]:
    return str(value.__module__), _text(value.__doc__)


def _text(value: Any) -> str | None:
    return value[:_DOC] if type(value) is str else None


def _is_plain(value: Any) -> bool:
    return type(value) in (str, int, float, bool, bytes, type(None), tuple, list, dict)


def _defines(kind: type, name: str) -> bool:
    return vars(kind).get(name) is not None


def _base_value(value: Any, plain: Any) -> Any:
    """What the plain type itself holds, whatever the subclass says."""
    if plain is dict:
        return dict(dict.items(value))
    if plain in (list, set, tuple, frozenset):
        return plain(plain.__iter__(value))
    if plain in (bytes, bytearray):
        return plain(memoryview(value))
    if plain is str:
        return str.__str__(value) if type(value) is str else "".join(str.__iter__(value))
    if plain is complex:
        return complex(complex.__add__(value, 0))
    return plain.__add__(value, 0) if plain is int else float.__add__(value, 0.0)


def _drained(stream: io.StringIO) -> str:
    text = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return text
