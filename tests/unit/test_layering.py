"""Imports only go down, as the package's docstring draws it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "jailpy"
#: From the top: a module imports from its own layer and from those below it. A new module needs its place here.
LAYERS = (
    {"__main__", "cli", "cli_grade", "cli_hacks", "demo", "doctor", "doctor_attack", "doctor_checks", "doctor_probe"}
    | {"hacks", "escapes", "progress", "table"},
    {"__init__", "execute", "jail", "pool", "grading", "scheduler", "scoring", "compare", "testcase"}
    | {"extract", "fences", "tags", "canonical", "difference", "reasons", "pair", "efficiency", "measuring"}
    | {"checking", "interaction", "report"},
    {"cold", "warm", "workers", "check_worker", "classify", "capacity", "lower", "programs", "languages", "roots"}
    | {"project", "trees"},
    {"kernel"},
    {"policy", "limits", "status", "verdict", "errors"},
    {"guest"},
)
#: Pure modules of a higher layer that a lower one reads: what a test is, for what runs in a jail.
ALSO = {("programs", "testcase")}
#: What code for jails takes from the caller's interpreter beyond its standard library.
NEEDS = {"project.py": ("pytest",)}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent.name != "pack")


def layer_of(name: str) -> int:
    found = [number for number, names in enumerate(LAYERS) if name in names]
    assert found, f"jailpy.{name} has no layer: add it to LAYERS and to the docstring of jailpy"
    return found[0]


def own_name(path: Path) -> str:
    """`jailpy/kernel/spec.py` is kernel, `jailpy/cold.py` is cold."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Names below jailpy that a module imports, wherever in its text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are absolute"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "jailpy" else [module]
        else:
            continue
        for name in names:
            if name == "jailpy" or name.startswith("jailpy."):
                yield name


def top_names(path: Path) -> Iterator[str]:
    for name in imported(path):
        part = name.split(".")[1] if "." in name else "__init__"
        exists = (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").exists()
        yield part if exists else "__init__"  # `from jailpy import Limits` is an import of the package itself


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    mine = own_name(path)
    for other in top_names(path):
        assert layer_of(other) >= layer_of(mine) or (mine, other) in ALSO, f"{path.name} imports {other} from above it"


def test_every_module_has_one_layer() -> None:
    names = {own_name(path) for path in MODULES}
    listed = [name for layer in LAYERS for name in layer]
    assert len(listed) == len(set(listed))
    assert names <= set(listed)


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("guest/*.py")), ids=lambda path: path.name)
def test_guest_code_imports_nothing_of_jailpy(path: Path) -> None:
    assert list(imported(path)) == []


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("guest/*.py")), ids=lambda path: path.name)
def test_guest_code_needs_the_standard_library_alone(path: Path) -> None:
    beside = {other.stem for other in PACKAGE.glob("guest/*.py")}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            assert name.partition(".")[0] in {*sys.stdlib_module_names, *beside, *NEEDS.get(path.name, ())}


def test_nothing_imports_the_command_line() -> None:
    edges = LAYERS[0]
    for path in MODULES:
        if own_name(path) not in edges:
            assert not set(top_names(path)) & edges, path.name


def test_the_kernel_knows_data_only() -> None:
    allowed = {"kernel", *LAYERS[4]}
    for path in PACKAGE.glob("kernel/**/*.py"):
        assert set(top_names(path)) <= allowed, path.name


def test_only_the_kernel_makes_calls_that_bypass_python() -> None:
    # The checks of `doctor` run inside a jail, beside guest code.
    for path in MODULES:
        if own_name(path) in {"kernel", "guest", "doctor_probe", "doctor_checks", "escapes"}:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
        assert "ctypes" not in {alias.name for node in imports for alias in node.names}, path.name
