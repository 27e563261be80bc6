"""What test code may ask a program about its objects, so that the answer is data, and never whether the data is right.

Python 3.9 and later, standard library only.
"""

from __future__ import annotations

#: The only special attributes that are looked up in the program: interpreter and libraries read others to be told how an
#: object is to be compared, copied, called, or where in memory it lies.
_ASKED = frozenset(("__members__", "__slots__"))
#: Methods by which plain values are asked whether they are right.
TELLING = frozenset(("startswith", "endswith", "isdisjoint", "issubset", "issuperset"))


def is_special(name: str) -> bool:
    """Whether the language or a library gives the name a meaning."""
    return name.startswith("__") and name.endswith("__")


def is_told(method: object) -> bool:
    """Whether a class has a method of the program's under this name; the others are looked up as they are asked for."""
    return type(method) is str and not (is_special(method) or method.startswith("_jailpy"))


def check_attribute(name: str) -> None:
    """AttributeError where the program is not asked for an attribute of this name."""
    if name.startswith("_jailpy") or (is_special(name) and name not in _ASKED):
        raise AttributeError(name)
