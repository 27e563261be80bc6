"""Stand-ins for the modules of a program's tree, and the finder through which the test code's imports come to them.

Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Iterator, Mapping
from importlib.machinery import ModuleSpec
from typing import Any

import asking

#: Names by which test runners are told what to do: never the program's.
RUNNERS = frozenset(("load_tests", "setUpModule", "tearDownModule", "pytest_plugins", "pytestmark", "collect_ignore"))
#: What modules say of themselves.
_SAID = frozenset(("__author__", "__file__", "__version__"))
_RUNNERS_BEGIN = ("pytest_", "setup_", "teardown_", "test", "Test")


class OwnModule(types.ModuleType):
    """A module of the program's: its attributes are asked for, but for those that belong to importing."""

    def __init__(self, peer: Any, number: int, name: str, doc: Any) -> None:
        super().__init__(name, doc)
        super().__setattr__("_jailpy_at", (peer, number, False))

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # where patches look for what they are to put back
        return _Names(self)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return _given(self)
        if name not in _SAID:
            asking.check_attribute(name)
        return self._jailpy_at[0].ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            self._jailpy_at[0].ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._jailpy_at[0].ask("delete", self, name)

    def __dir__(self) -> list[str]:
        return list(self._jailpy_at[0].ask("members", self)[0])


class _Names(Mapping[str, Any]):
    """A module's names and what they stand for, each asked for when it is wanted."""

    def __init__(self, module: OwnModule) -> None:
        self.module = module

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self.module, name)
        except AttributeError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self.module))

    def __len__(self) -> int:
        return len(dir(self.module))


class Finder:
    """Finds `names`, and what is in them, in the program's tree. First among finders, for they are nobody else's."""

    def __init__(self, peer: Any, names: tuple[str, ...]) -> None:
        self.peer = peer
        self.names = frozenset(names)
        self.imported: dict[str, OwnModule] = {}
        self.fresh: OwnModule | None = None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Every module counts as a package: whether it is one, the program says when something in it is imported."""
        loader: Any = self
        return ModuleSpec(name, loader, is_package=True) if name.partition(".")[0] in self.names else None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Imports it in the program's jail."""
        try:
            # One that was imported before, and is now wanted again, is no more in this jail's sys.modules.
            module = self.peer.ask("import", spec.name, spec.name in self.imported)
        except ModuleNotFoundError as error:
            if str(error).startswith(f"No module named {spec.name!r}"):
                error.name = spec.name  # so that `from package import name` knows what there is not
            raise
        if not isinstance(module, OwnModule):
            raise ImportError(f"{spec.name} put something else in its place")
        self.imported[spec.name] = self.fresh = module
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """A module that was just made has been run, over there; any other is to be run again."""
        fresh, self.fresh = self.fresh, None
        if module is not fresh:
            self.peer.ask("reload", module)


def _given(module: Any) -> list[str]:
    """What `import *` gives the test code: nothing by which a program could take the place of what judges it."""
    given = []
    for name in module._jailpy_at[0].ask("members", module)[1]:
        if name in RUNNERS or name.startswith(_RUNNERS_BEGIN):
            continue
        if hasattr(builtins, name):
            raise ImportError(f"{module.__name__}.{name} has the name of a built-in one; import it by name")
        if name in sys.modules and not _is_real(getattr(module, name)):
            continue
        given.append(name)
    return given


def _is_real(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and not isinstance(value, OwnModule)
