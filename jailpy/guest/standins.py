"""The test code's side: what stands in for a program's functions, classes and instances.

A stand-in is a call into the program's jail. Its value is data that came over: a plain value, or another stand-in. What
stands for an instance never equals a plain value and never meets one in an operator, for then the program would be told
the value that is expected and asked whether it is the right one. Instances that the test code made itself, by calling
the class, are what is tested: they may meet plain values, except that equality stays what it is.

Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import itertools
import sys
import types
from typing import Any, Callable  # noqa: UP035  # Python 3.9 has no other

import asking
from operators import ARITHMETIC, OPERATORS


class NotHere(TypeError):
    """A test cannot be run in another jail than the program's. Nothing that such a test catches makes it pass."""

    first: NotHere | None = None

    def __init__(self, what: str) -> None:
        NotHere.first = NotHere.first or self
        super().__init__(f"{what}; a test that needs this must run beside the program: in_process=True")


class Gone(BaseException):
    """The program's jail ended, or sent what is no message. No test code can go on from here."""


class Class(type):
    """The class of stand-ins for a program's classes."""

    _jailpy_at: tuple[Any, int, bool]

    @classmethod
    def make(
        cls,
        peer: Any,
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
        foreign = [line for base in bases for line in base.__mro__ if not isinstance(line, Class)]
        for method, how, text in methods:
            own = asking.is_told(method) and not any(hasattr(line, method) for line in foreign)
            if own or method == "__init__":
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


class Bound:
    """Has a place in the program's jail: (peer, number, whether the test code made it)."""

    _jailpy_at: tuple[Any, int, bool]


class _Attributes(Bound, metaclass=Class):
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
        if not isinstance(other, Bound):
            return NotImplemented
        return self._jailpy_at[0].ask("operator", self, "__eq__", (other,))

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, Bound):
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
SHOWN = ("__str__", "__repr__", "__format__")
IMMUTABLE: dict[str, type] = {kind.__name__: kind for kind in (int, float, str, bytes, tuple, frozenset, complex)}
MUTABLE = ("list", "dict", "set", "bytearray")


def _operator(name: str) -> Callable[..., Any]:
    """A special method that asks the program, where it may."""

    def forward(self: Any, *args: Any) -> Any:
        peer, _, made = self._jailpy_at
        if name in _MEASURES and not made and _is_container(self):
            content = _content(self)
            return OPERATORS[name](content, *args)
        if name in ARITHMETIC and not made and not all(isinstance(arg, Bound) for arg in args):
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


async def coroutine(instance: Any) -> Any:
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


def _method(peer: Any, name: str, how: str, doc: Any) -> Any:
    refuse = _refuse_telling  # what is made below has the test code's globals

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse(self, name)
        return peer.ask("method", self, name, args, kwargs)

    if how == "p":
        return property(
            lambda self: peer.ask("get", self, name), lambda self, value: peer.ask("set", self, name, value), None, doc
        )
    made: Any = types.FunctionType(elsewhere(method), peer.namespace, name, None, method.__closure__)
    made.__doc__ = doc
    if how == "s":
        return classmethod(made)  # asked of the class, where the program finds what it is
    return classmethod(made) if how == "c" else made


def function_code(peer: Any, number: int) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        return peer.ask("call", function_itself(), args, kwargs)

    def function_itself() -> Any:
        return peer.told[number]

    return function


def elsewhere(function: Any) -> types.CodeType:
    """Its code, which nobody who looks for source takes for the program's."""
    return function.__code__.replace(co_filename="<in the program's jail>")  # type: ignore[no-any-return]


def is_instance(value: Any) -> bool:
    return isinstance(type(value), Class) and issubclass(type(value), Instance)


def is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)
