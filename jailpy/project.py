"""Project tests: hidden test files that pytest runs, and the names of those that must pass.

    {"type": "project",
     "files":    {"tests/test_core.py": "...", "tests/conftest.py": "...", "pytest.ini": "..."},
     "expected": ["tests/test_core.py::test_adds", "tests/test_core.py::TestCore::test_empty"],
     "modules":  ["core"],
     "shared":   ["tests/data.json"]}

`files` are the hidden tests, their helpers and data, and the runner's whole configuration. `expected` are node ids as
pytest writes them, relative to the tree. `modules` are the top-level modules and packages that are the program's, by
default `solution`; a program that is one text is the file of the first of them. `shared` are those of `files` that the
program may see, such as input that tests hand over by name; by default none.

By default pytest and the hidden files are in a jail without the program: there an import of one of `modules`, and of
nothing else, gives a stand-in (guest/modules.py), and no file of the program's tree is in that jail. With
`in_process` one jail has both, the hidden files laid over the program's tree; the program can then forge the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jailpy.errors import UsageError
from jailpy.roots import File
from jailpy.trees import check_tree

KEYS = frozenset(("files", "expected", "modules", "shared", "in_process", "weight", "group", "size"))
MODULE = "solution"
#: The file that the runner is told to take its configuration from where the caller gives none.
OWN_INI = ".jailpy.ini"
MOST_EXPECTED = 10_000
_LONGEST_NAME = 1000

#: In pytest's own order, with what each must hold to count as one.
_INIS = (
    *((name, b"") for name in ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")),
    ("pyproject.toml", b"[tool.pytest"),
    ("tox.ini", b"[pytest]"),
    ("setup.cfg", b"[tool:pytest]"),
)
_CONFIGURES = frozenset(("conftest.py", "sitecustomize.py", "usercustomize.py"))
_CONFIGURING_ENDS = (".pth", ".pyc", ".egg-info", ".dist-info")
_CONFIGURING_FOLDERS = frozenset(("__pycache__", ".pytest_cache"))


@dataclass(frozen=True, slots=True)
class ProjectTest:
    """Hidden `files`, of whose tests all `expected` must pass. `in_process`: beside the program, which can forge them."""

    files: tuple[File, ...]
    expected: tuple[str, ...]
    modules: tuple[str, ...] = (MODULE,)
    shared: tuple[str, ...] = ()
    in_process: bool = False
    weight: float = 1.0
    group: str | None = None
    size: float | None = None

    @property
    def ini(self) -> str:
        """The caller's file that configures pytest, or our own."""
        contents = {file.name: file.content for file in self.files}
        return next((name for name, sign in _INIS if name in contents and sign in contents[name]), OWN_INI)


def parse_project(item: Mapping[str, Any], where: str, in_process: object, about: Mapping[str, Any]) -> ProjectTest:
    """A project test from its keys. UsageError names the one that is wrong."""
    for key in ("files", "expected"):
        if key not in item:
            raise UsageError(f"{where}.{key}", "is missing")
    if not isinstance(in_process, bool):
        raise UsageError(f"{where}.in_process", "must be true or false")
    files = check_tree(item["files"], f"{where}.files", (OWN_INI,))
    expected = _texts(item["expected"], f"{where}.expected", "tests that must pass")
    names = {file.name for file in files}
    for i, name in enumerate(expected):
        file, _, test = name.partition("::")
        if file not in names or not test or len(name) > _LONGEST_NAME:
            problem = f"{name[:200]!r} is no test in `files`; give names such as 'tests/test_core.py::test_adds'"
            raise UsageError(f"{where}.expected[{i}]", problem)
    if len(expected) > MOST_EXPECTED:
        raise UsageError(f"{where}.expected", f"{len(expected)} names; give at most {MOST_EXPECTED}")
    modules = _texts(item.get("modules", [MODULE]), f"{where}.modules", "modules that are the program's")
    for i, name in enumerate(modules):
        if not name.isidentifier():
            raise UsageError(f"{where}.modules[{i}]", f"{name[:200]!r} is no top-level module, such as 'core'")
        for hidden in (f"{name}.py", f"{name}/__init__.py"):
            if hidden in names:
                problem = f"is the program's {name} according to `modules`; leave it out of one of them"
                raise UsageError(f"{where}.files[{hidden!r}]", problem)
    shared = _texts(item["shared"], f"{where}.shared", "files that the program may see") if item.get("shared") else ()
    for i, name in enumerate(shared):
        if name not in names:
            raise UsageError(f"{where}.shared[{i}]", f"{name[:200]!r} is none of `files`")
    return ProjectTest(files, expected, modules, shared, in_process, **about)


def without_configuration(tree: tuple[File, ...]) -> tuple[File, ...]:
    """A program's files but for those from which Python or pytest take what to do: these are ours alone to give."""
    return tuple(file for file in tree if not _configures(file.name))


def _configures(name: str) -> bool:
    *folders, last = name.split("/")
    return (
        last in _CONFIGURES
        or (not folders and last in [ini for ini, _ in _INIS])
        or last.endswith(_CONFIGURING_ENDS)
        or any(folder in _CONFIGURING_FOLDERS or folder.endswith(_CONFIGURING_ENDS) for folder in folders)
    )


def _texts(given: object, where: str, what: str) -> tuple[str, ...]:
    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(item, str) for item in given):
        raise UsageError(where, f"must be a list of the {what}, at least one")
    if len(set(given)) != len(given):
        raise UsageError(where, "names one of them twice")
    return tuple(given)
