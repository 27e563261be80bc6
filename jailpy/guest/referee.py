"""Runs test code in a jail of its own; the program's names in it are stand-ins (standins.py).

Python 3.9 and later, standard library only.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import os
import re
import sys
import types
from collections.abc import Iterable
from typing import Any

import asking
import heap
import peer as peers
import standins
import unpickling
from checks import Checks
from folders import Folders
from modules import RUNNERS

#: Helpers that tests use without importing them, for the program has: always the real ones.
_HELPERS = frozenset(
    (
        *("math", "cmath", "random", "re", "copy", "itertools", "functools", "collections", "operator"),
        *("string", "json", "datetime", "decimal", "fractions", "statistics", "unittest", "pytest", "np"),
        *("numpy",),
    )
)
_REAL = {"np": "numpy"}


def referee(source: str, path: str, prelude: str, fd: int, folders: Folders) -> dict[str, Any]:
    """The frame that says how the test code ended."""
    return run(peers.Peer(fd, folders, Names()), source, path, prelude)


def run(peer: peers.Peer, source: str, path: str, prelude: str) -> dict[str, Any]:
    """The same, for a program that `peer` stands for."""
    space: Names = peer.namespace
    space.update(__name__="__main__", __builtins__=builtins, __file__=path)
    sys.modules["__main__"] = _Main(space)
    texts = {"<prelude>": prelude, path: source} if prelude else {path: source}
    code = [compile(text, name, "exec", dont_inherit=True) for name, text in texts.items()]
    peer.checks = Checks(texts)
    peer.expects_stop = "StopIteration" in prelude + source
    count = _Count()
    if "unittest" in source:
        count.begin()
    if "doctest" in source:
        refuse_doctests(texts)
    if any(name in source for name in ("pickle", "shelve", "joblib")):
        unpickling.make_safe(space, standins.NotHere)
    import_nothing(peer.link.folders.roots)
    try:
        space.open(peer, texts, frozenset().union(*map(_names_in, code)))
        forward_seeds(peer)
        for each in code:
            exec(each, space)  # the caller's own code
        if not (count.tests or _ACTS.search(source) or _run_what_is_defined(ast.parse(source), space)):
            return {"no_test": True}
    except heap.TooLarge as error:
        return {"too_large": error.what}
    except SystemExit as error:
        # unittest.main() ends so. One that the program raised is no way to end well.
        if count.failure is not None:
            raise count.failure from None
        if error.code or not count.tests or hasattr(error, "_jailpy_text"):
            raise
    for failure in (peer.lost, standins.NotHere.first, count.failure, peer.failure):
        if failure is not None:
            raise failure
    return {"done": True}


def import_nothing(roots: tuple[str, ...]) -> None:
    """No module is found in these folders, where the program's files come to lie."""

    def hook(path: str) -> Any:
        path = os.path.realpath(path)
        if any(path == root or path.startswith(root + "/") for root in roots):
            return _Empty
        raise ImportError(path)

    for root in roots:
        sys.path_importer_cache.pop(root, None)
    if roots:
        sys.path_hooks.insert(0, hook)


class _Empty:
    """Finds no module."""

    @staticmethod
    def find_spec(name: str, target: Any = None) -> None:
        return None


def refuse_doctests(texts: dict[str, str]) -> None:
    """Examples in the program's texts are its own code, and are run nowhere but in its jail."""
    trees = [ast.parse(text) for text in texts.values()]
    own = {"".join(text.split()) for tree in trees for text in _texts(ast.walk(tree))}
    parser: Any = __import__("doctest").DocTestParser
    get = parser.get_doctest

    def get_doctest(mine: Any, text: Any, *place: Any) -> Any:
        if ">>>" in text and "".join(text.split()) not in own:
            raise standins.NotHere(f"{place[1]} has examples that are not the test code's own")
        return get(mine, text, *place)

    parser.get_doctest = get_doctest


def _texts(nodes: Iterable[ast.AST]) -> set[str]:
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


class Names(dict):  # type: ignore[type-arg]  # of Python 3.9
    """The test code's global names; those that it has not are the program's."""

    theirs: frozenset[str] = frozenset()

    def open(self, peer: peers.Peer, texts: dict[str, str], used: frozenset[str]) -> None:
        """Waits until the program is loaded, and settles whose those names are that both have."""
        self.peer = peer
        names, told = peer.listen()
        program = frozenset(name for name in names if not asking.is_special(name))
        own = frozenset(vars(builtins))
        self.theirs = program - RUNNERS - own
        if used & program & own:
            nodes = [node for text in texts.values() for node in ast.walk(ast.parse(text))]
            self.theirs |= _tested(nodes, program)
        mine = self.theirs - _HELPERS
        kinds = (type, types.FunctionType)
        self.update({name: value for name, value in told.items() if name in mine and isinstance(value, kinds)})

    def __missing__(self, name: str) -> Any:
        if name not in self.theirs:
            raise KeyError(name)
        value = self.peer.ask("name", name)
        if name in _HELPERS and not peers.is_real(value, _REAL.get(name, name)):
            value = __import__(_REAL.get(name, name))
        if isinstance(value, peers.ForeignModule):
            value = _module(name, value)
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
            self[name] = value  # a variable may be another value the next time
        return value

    def complete(self) -> None:
        """Fetches every name of the program's that is not too large for it."""
        for name in self.theirs - frozenset(self):
            with contextlib.suppress(heap.TooLarge):
                self[name] = self[name]


def _module(name: str, found: peers.ForeignModule) -> Any:
    """The module that the test code names without importing it, for the program does."""
    if found.name != name or name not in getattr(sys, "stdlib_module_names", sys.modules):
        raise standins.NotHere(f"{name} is the program's module {found.name[:100]}")
    return __import__(name)


class _Main(types.ModuleType):
    """`__main__`: the test code's names, for test runners that look for them, and the program's."""

    def __init__(self, space: Names) -> None:
        super().__init__("__main__")
        super().__setattr__("_space", space)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # doctest copies it, and what is missing is then no more asked for
        space: Names = super().__getattribute__("_space")
        space.complete()
        return space

    def __getattribute__(self, name: str) -> Any:
        space: Names = super().__getattribute__("_space")
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
    texts = _texts(used) | {node.attr for node in used if isinstance(node, ast.Attribute)}
    own = frozenset(vars(builtins))
    shadows = names & program & own
    if not shadows or (names | texts) & (program - own - _HELPERS):
        return frozenset()
    outer = set()
    for node in used:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in shadows:
            inner = [each for argument in (*node.args, *node.keywords) for each in ast.walk(argument)]
            if any(isinstance(each, ast.Name) and each.id in shadows for each in inner):
                outer.add(node.func.id)
    if len(shadows - outer) > 1:
        both = ", ".join(sorted(shadows - outer))
        raise standins.NotHere(f"{both} are built-in names and the program's, and only one of them can be what is tested")
    return frozenset(shadows - outer)


def forward_seeds(peer: peers.Peer) -> None:
    """A test that seeds a generator means the program's too, which in one process is the same."""
    for name, generator in generators():
        generator.seed = _seeding(peer, name, generator.seed)


def generators() -> list[tuple[str, Any]]:
    """Modules whose `seed` is that of a whole process."""
    modules: list[tuple[str, Any]] = [("random", __import__("random"))]
    if "numpy" in sys.modules:
        modules.append(("numpy", sys.modules["numpy"].random))
    return modules


def _seeding(peer: peers.Peer, name: str, seed: Any) -> Any:
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
        start, add_sub, add_success = result.startTest, result.addSubTest, result.addUnexpectedSuccess

        def start_test(mine: Any, test: Any) -> None:
            self.tests += 1
            start(mine, test)

        def failing(add: Any) -> Any:
            def added(mine: Any, test: Any, error: Any) -> None:
                self.failure = self.failure or error[1]
                add(mine, test, error)

            return added

        def add_sub_test(mine: Any, test: Any, part: Any, error: Any) -> None:
            self.failure = self.failure or (error and error[1])
            add_sub(mine, test, part, error)

        def add_unexpected_success(mine: Any, test: Any) -> None:
            self.failure = self.failure or AssertionError(f"{test} should have failed")
            add_success(mine, test)

        result.startTest, result.addSubTest, result.addUnexpectedSuccess = start_test, add_sub_test, add_unexpected_success
        result.addError, result.addFailure = failing(result.addError), failing(result.addFailure)


def _names_in(code: types.CodeType) -> frozenset[str]:
    """Every name that some code, or code within it, may look up; attributes are among them."""
    inner = [_names_in(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return frozenset(code.co_names).union(*inner)


def _run_what_is_defined(tree: ast.Module, space: Names) -> bool:
    """Test code that only defines tests is run as its runner would: TestCase classes, and functions named test_*. False
    where there are none."""
    if not all(isinstance(node, _DEFINES) or _is_text(node) for node in tree.body):
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


#: A line that does something, which most test code has: a statement, or a call, that nothing encloses.
_ACTS = re.compile(r"^(assert|for|while|with|try|if)\b|^\w[\w.]*\(", re.MULTILINE)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
