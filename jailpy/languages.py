"""How a language's programs are started. Data: builds no process and copies nothing from the environment."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass

from jailpy.errors import InfrastructureError, UsageError
from jailpy.policy import Policy
from jailpy.roots import INSIDE, Places

LANGUAGES = ("python",)
MAIN = "main.py"

#: What small programs import: done once, in the zygote. The rest of the library imports on demand as ever.
PRELOAD = (
    *("abc", "array", "ast", "atexit", "base64", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses"),
    *("datetime", "enum", "functools", "heapq", "inspect", "io", "itertools", "json", "linecache", "math", "numbers"),
    *("operator", "random", "re", "resource", "signal", "string", "struct", "textwrap", "threading", "time", "tokenize"),
    *("traceback", "types", "typing", "warnings", "weakref"),
)

_OLDEST = (3, 9)
_ASK = """
import json, os, sys
prefixes = [sys.prefix, sys.base_prefix, sys.base_exec_prefix]
print(json.dumps([list(sys.version_info[:2]), sys.executable, os.path.realpath(sys.executable), prefixes]))
"""
_ASK_RUNNER = """
import json, sys
needed = set()
try:
    import _pytest.config
    _pytest.config.get_config()
    needed = {name.partition(".")[0] for name in sys.modules} | set(getattr(sys, "stdlib_module_names", ()))
except ImportError:
    pass
print(json.dumps(sorted(needed)))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python: what to execute, and the host folders without which it does not run."""

    executable: str
    folders: tuple[str, ...]


def check_language(name: str) -> None:
    """UsageError for a language that this version does not run."""
    if name not in LANGUAGES:
        raise UsageError("language", f"{name!r} is not supported; choose from {', '.join(LANGUAGES)}")


def interpreter(policy: Policy) -> Interpreter:
    """The Python of the policy's guests."""
    return _inspect(policy.python) if policy.python else _own()


def check_runner(policy: Policy, modules: tuple[str, ...], field_name: str) -> None:
    """UsageError where the policy's Python has no pytest, or where what is to be a program's module is one that pytest
    or Python needs: tests would get that one."""
    taken = _needed_by_runner(interpreter(policy).executable)
    for name in modules:
        if name in taken:
            problem = f"{name!r} is a module of the standard library's or of pytest's; a program's must have another name"
            raise UsageError(field_name, problem)


@functools.cache
def _needed_by_runner(executable: str) -> frozenset[str]:
    try:
        done = subprocess.run(
            [executable, "-I", "-c", _ASK_RUNNER], capture_output=True, timeout=60, check=True, stdin=subprocess.DEVNULL
        )
        found = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise InfrastructureError(f"policy.python: {executable} does not run: {error}") from error
    if not found:
        raise UsageError(
            "policy.python",
            f"project tests need pytest in the guest's Python, and {executable} has none; install it there, or give "
            "Policy(python=...) of a virtual environment that has it",
        )
    return frozenset(found)


@functools.cache
def _own() -> Interpreter:
    # The base interpreter, not the venv around jailpy: what a trainer installs beside itself is not the guest's to read.
    executable = getattr(sys, "_base_executable", None) or sys.executable
    return _inspect(executable)


@functools.cache
def _inspect(executable: str) -> Interpreter:
    try:
        done = subprocess.run(
            [executable, "-I", "-c", _ASK], capture_output=True, timeout=60, check=True, stdin=subprocess.DEVNULL
        )
        version, name, real, prefixes = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise InfrastructureError(f"policy.python: {executable} does not run as a Python interpreter: {error}") from error
    if tuple(version) < _OLDEST:
        raise UsageError("policy.python", f"{executable} is Python {version[0]}.{version[1]}; guests need 3.9 or newer")
    folders = {os.path.realpath(path) for path in prefixes} | {path for path in prefixes}
    folders.add(os.path.dirname(os.path.dirname(real)))
    for path in sorted(folders):
        if any(path == own or path.startswith(own + "/") for own in (*INSIDE.writable, INSIDE.driver, "/proc", "/dev")):
            raise UsageError("policy.python", f"{executable} needs {path}, which is the guest's own in a jail; move it")
    return Interpreter(name, _outermost(folders))


def _outermost(folders: set[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for path in sorted(folders, key=len):
        if path != "/" and not any(path == have or path.startswith(have + "/") for have in kept):
            kept.append(path)
    return tuple(kept)


def environment(policy: Policy, processes: int, places: Places) -> tuple[str, ...]:
    """The guest's whole environment. Fixed values make runs equal; thread pools fit the process limit."""
    threads = str(max(1, min(os.cpu_count() or 1, processes // 8)))
    base = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": places.work,
        "TMPDIR": places.writable[-1] if len(places.writable) == 1 else "/tmp",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        **dict(policy.environment),
    }
    return tuple(f"{key}={value}" for key, value in base.items())
