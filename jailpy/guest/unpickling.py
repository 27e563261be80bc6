"""Pickles in the test code's jail: what the program wrote is data there, and calls nothing of its choice.

Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import io
from typing import Any

_BUILTINS = ("bytearray", "complex", "frozenset", "object", "range", "set", "slice")
_PLAIN = {
    "builtins": _BUILTINS,
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque"),
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    # How old protocols write instances and bytes.
    "__builtin__": _BUILTINS,
    "copy_reg": ("_reconstructor",),
    "copyreg": ("_reconstructor",),
    "_codecs": ("encode",),
    "numpy": ("dtype", "ndarray"),
    **{f"numpy.{core}.multiarray": ("_reconstruct", "scalar") for core in ("core", "_core")},
    **{f"numpy.{core}.numeric": ("_frombuffer",) for core in ("core", "_core")},
}


def make_safe(space: dict[str, Any], refusal: type[Exception]) -> None:
    """From here on, unpickling gives plain values and instances of the classes that `space` itself holds; `refusal` is
    raised for others."""
    module: Any = __import__("pickle")

    class Unpickler(module.Unpickler):  # type: ignore[misc]  # a class of C
        def find_class(self, where: str, name: str) -> Any:
            own = dict.get(space, name) if where == "__main__" else None
            if type(own) is type and own.__module__ == "__main__":
                return own
            if name in _PLAIN.get(where, ()):
                return super().find_class(where, name)
            raise refusal(f"a pickle asks for {where[:100]}.{name[:100]}")

    def load(file: Any, **options: Any) -> Any:
        return Unpickler(file, **options).load()

    def loads(data: Any, /, **options: Any) -> Any:
        return Unpickler(io.BytesIO(data), **options).load()

    module.Unpickler, module.load, module.loads = Unpickler, load, loads
