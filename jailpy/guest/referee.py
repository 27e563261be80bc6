"""Runs test code in a jail of its own; the program's names in it are stand-ins (standins.py).

Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import sys
import types
from typing import Any

import heap
import standins
from folders import Folders
from modules import RUNNERS

#: Helpers that tests use without importing them, for the program has: always the real ones.
_HELPERS = frozenset(
    (
        "math",
        "cmath",
        "random",
        "re",
        "copy",
        "itertools",
        "functools",
        "collections",
        "operator",
        "string",
        "json",
        "datetime",
        "decimal",
        "fractions",
        "statistics",
        "unittest",
        "pytest",
        "np",
        "numpy",
    )
)
_REAL = {"np": "numpy"}


def referee(source: str, path: str, prelude: str, fd: int, folders: Folders) -> dict[str, Any]:
    """The frame that says how the test code ended."""
    space = _Names({"__name__": "__main__", "__builtins__": builtins, "__file__": path})
    peer = standins.Peer(fd, folders, space)
    sys.modules["__main__"] = _Main(space)
    helpers, test = ast.parse(prelude), ast.parse(source, path)
    count = _Count()
    if "unittest" in source:
        count.begin()
    try:
        space.open(peer, helpers, test)
        forward_seeds(peer)
        for tree, name in ((helpers, "<prelude>"), (test, path)):
            exec(compile(tree, name, "exec", dont_inherit=True), space)  # the caller's own code
        if not _ran_something(test, space, count):
            return {"no_test": True}
    except heap.TooLarge as error:
        return {"too_large": error.what}
    except SystemExit as error:
        # unittest.main() ends so. One that the program raised is no way to end well.
        if count.failure is not None:
            raise count.failure from None
        if error.code or not count.tests or hasattr(error, "_jailpy_text"):
            raise
    if peer.lost is not None:
        raise peer.lost
    return {"done": True}


class _Names(dict):  # type: ignore[type-arg]  # of Python 3.9
    """The test code's global names; those that it has not are the program's."""

    theirs: frozenset[str] = frozenset()

    def open(self, peer: standins.Peer, *trees: ast.AST) -> None:
        """Waits until the program is loaded, and settles whose those names are that both have."""
        self.peer = peer
        names, told = peer.listen()
        program = frozenset(names)
        used = [node for tree in trees for node in ast.walk(tree)]
        self.theirs = program - RUNNERS - frozenset(vars(builtins)) | _tested(used, program)
        self.update({name: value for name, value in told if name in self.theirs - _HELPERS})

    def __missing__(self, name: str) -> Any:
        if name not in self.theirs:
            raise KeyError(name)
        value = self.peer.ask("name", name)
        if name in _HELPERS and not standins.is_real(value):
            value = __import__(_REAL.get(name, name))
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
            self[name] = value  # a variable may be another value the next time
        return value

    def complete(self) -> None:
        """Fetches every name of the program's that is not too large for it."""
        for name in self.theirs - frozenset(self):
            with contextlib.suppress(heap.TooLarge):
                self[name] = self[name]


class _Main(types.ModuleType):
    """`__main__`: the test code's names, for test runners that look for them, and the program's."""

    def __init__(self, space: _Names) -> None:
        super().__init__("__main__")
        super().__setattr__("_space", space)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # doctest copies it, and what is missing is then no more asked for
        space: _Names = super().__getattribute__("_space")
        space.complete()
        return space

    def __getattribute__(self, name: str) -> Any:
        space: _Names = super().__getattribute__("_space")
        if name in ("__dict__", "__class__") or (name not in space and name not in space.theirs):
            return super().__getattribute__(name)
        return space[name]

    def __setattr__(self, name: str, value: Any) -> None:
        super().__getattribute__("_space")[name] = value

    def __dir__(self) -> list[str]:
        return list(super().__getattribute__("_space"))


def _tested(used: list[ast.AST], program: frozenset[str]) -> frozenset[str]:
    """Built-in names that mean the program's functions here.

    A program may call its function `sum`, and a test then means that one. But a test that calls f of the program's, and
    abs of what came back, means the real abs, whatever the program has defined."""
    names = {node.id for node in used if isinstance(node, ast.Name)}
    own = frozenset(vars(builtins))
    shadows = names & program & own
    if not shadows or names & (program - own - _HELPERS):
        return frozenset()
    outer = set()
    for node in used:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in shadows:
            inner = [each for argument in (*node.args, *node.keywords) for each in ast.walk(argument)]
            if any(isinstance(each, ast.Name) and each.id in shadows for each in inner):
                outer.add(node.func.id)
    return frozenset(shadows - outer)


def forward_seeds(peer: standins.Peer) -> None:
    """A test that seeds a generator means the program's too, which in one process is the same."""
    __import__("random")
    for name in ("random", "numpy"):
        module: Any = sys.modules.get(name)
        if module is not None:
            generator = module.random if name == "numpy" else module
            generator.seed = _seeding(peer, name, generator.seed)


def _seeding(peer: standins.Peer, name: str, seed: Any) -> Any:
    def seeding(*args: Any) -> None:
        seed(*args)
        peer.ask("seed", name, args)

    return seeding


class _Count:
    """What unittest's own runner does: how many tests it began, and the first failure, which it only prints."""

    def __init__(self) -> None:
        self.tests = 0
        self.failure: BaseException | None = None

    def begin(self) -> None:
        """Counts from here on."""
        result: Any = __import__("unittest").TestResult
        start, add_error, add_failure = result.startTest, result.addError, result.addFailure

        def start_test(mine: Any, test: Any) -> None:
            self.tests += 1
            start(mine, test)

        def failing(add: Any) -> Any:
            def added(mine: Any, test: Any, error: Any) -> None:
                self.failure = self.failure or error[1]
                add(mine, test, error)

            return added

        result.startTest, result.addError, result.addFailure = start_test, failing(add_error), failing(add_failure)


def _ran_something(tree: ast.Module, space: _Names, count: _Count) -> bool:
    """Test code that only defines tests is run as its runner would: TestCase classes, and functions named test_*. False
    where there are none."""
    if count.tests or not all(isinstance(node, _DEFINES) or _is_text(node) for node in tree.body):
        return True
    functions = [
        value
        for name, value in list(space.items())
        if name.startswith("test")
        and isinstance(value, types.FunctionType)
        and value.__code__.co_filename == space["__file__"]
        and not value.__code__.co_argcount
    ]
    case: Any = getattr(sys.modules.get("unittest"), "TestCase", ())
    classes = [kind for kind in list(space.values()) if isinstance(kind, type) and issubclass(kind, case)]
    for function in functions:
        function()
    for kind in classes:
        sys.modules["unittest"].defaultTestLoader.loadTestsFromTestCase(kind).debug()  # raises what failed
    return bool(functions or classes)


_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
