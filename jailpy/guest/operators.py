"""The special methods that cross between two jails, each as what the interpreter does for it."""

from __future__ import annotations

import copy
import math
import operator
from typing import Any, Callable  # noqa: UP035  # Python 3.9 has no other

_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "lshift", "rshift", "and", "xor", "or")
COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__")
#: Those in which the program's instance meets a value that is not its own.
ARITHMETIC = frozenset(
    [f"__{side}{name}__" for name in (*_BINARY, "pow", "divmod") for side in ("", "r", "i")]
    + [*COMPARISONS, "__contains__"]
)


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda mine, other: function(other, mine)


def _await(mine: Any) -> Any:
    import asyncio  # slow to import, and few programs wait

    async def whole() -> Any:
        return await mine

    return asyncio.run(whole())


def _special(name: str) -> Callable[..., Any]:
    """As a statement of the language finds it: in the class, and bound only where it can be, which a mock's is not."""

    def special(mine: Any, *args: Any) -> Any:
        found = getattr(type(mine), name)
        return found(mine, *args) if hasattr(type(found), "__get__") else found(*args)

    return special


OPERATORS: dict[str, Callable[..., Any]] = {
    "__pow__": pow,
    "__rpow__": _reflected(pow),
    "__ipow__": operator.ipow,
    "__divmod__": divmod,
    "__rdivmod__": _reflected(divmod),
    "__neg__": operator.neg,
    "__pos__": operator.pos,
    "__abs__": abs,
    "__invert__": operator.invert,
    "__int__": int,
    "__float__": float,
    "__complex__": complex,
    "__index__": operator.index,
    "__round__": round,
    "__trunc__": math.trunc,
    "__floor__": math.floor,
    "__ceil__": math.ceil,
    "__bytes__": bytes,
    "__len__": len,
    "__bool__": bool,
    "__iter__": iter,
    "__next__": next,
    "__reversed__": reversed,
    "__str__": str,
    "__repr__": repr,
    "__format__": format,
    "__hash__": hash,
    "__eq__": operator.eq,
    "__ne__": operator.ne,
    "__contains__": operator.contains,
    "__getitem__": operator.getitem,
    "__setitem__": operator.setitem,
    "__delitem__": operator.delitem,
    "__deepcopy__": copy.deepcopy,
    "__copy__": copy.copy,
    "__await__": _await,
    "__enter__": _special("__enter__"),
    "__exit__": _special("__exit__"),
    **{name: getattr(operator, name) for name in COMPARISONS},
}
for _name in _BINARY:
    OPERATORS[f"__{_name}__"] = getattr(operator, f"__{_name}__")
    OPERATORS[f"__r{_name}__"] = _reflected(OPERATORS[f"__{_name}__"])
    OPERATORS[f"__i{_name}__"] = getattr(operator, f"__i{_name}__", OPERATORS[f"__{_name}__"])
