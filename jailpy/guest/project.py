"""Runs pytest over a caller's test files, beside stand-ins for the program's modules or beside the program itself.

The report is kept in memory and leaves as the frame, which without the program in the jail nobody can forge:

    {"done": True, "exit": pytest's exit code,
     "tests": ((node id, "passed" | "failed" | "skipped" | "twice" | "unfinished", error), ...),
     "broken": ((what could not be collected or run, error), ...)}        error = (type, message, where)

A test has passed when its setup, its call and its teardown have, and nothing else was said of it: not a skip, an expected
failure, a pass where a failure was expected, or a failed part. Python 3.9 and later, standard library and pytest only.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import os
import sys
from typing import Any, Callable  # noqa: UP035  # Python 3.9 has no other

import peer as peers
import standins
import unpickling
from checks import Checks
from folders import Folders
from modules import Finder
from referee import forward_seeds, import_nothing, refuse_doctests

_TEXT = 500
_MOST_BROKEN = 20
_PHASES = ["setup", "call", "teardown"]
_NONE = ("", "", "")


def project(folder: str, request: dict[str, Any], fd: int, folders: Folders, own: frozenset[str]) -> dict[str, Any]:
    """The frame of a run in a jail of its own. `own` are the names of the test files' modules."""
    names, texts = request["modules"], _texts(folder)
    space = {"__builtins__": builtins, "__name__": "__main__"}
    peer = peers.Peer(fd, folders, space, own)
    peer.checks = Checks(texts)
    peer.expects_stop = any("StopIteration" in text for text in texts.values())
    if any("doctest" in text for text in texts.values()):
        refuse_doctests(texts)
    if any(name in text for text in texts.values() for name in ("pickle", "shelve", "joblib")):
        unpickling.make_safe(space, standins.NotHere)
    import_nothing(folders.roots)
    peer.listen()
    for loaded in [name for name in sys.modules if name.partition(".")[0] in names]:
        del sys.modules[loaded]
    finder: Any = Finder(peer, names)
    sys.meta_path.insert(0, finder)
    forward_seeds(peer)
    frame = _run(folder, request, lambda: peer.lost is not None)
    for failure in (peer.lost, standins.NotHere.first, peer.failure):
        if failure is not None:
            raise failure
    return frame


def beside(folder: str, request: dict[str, Any]) -> dict[str, Any]:
    """The frame of a run over the program's own files, which can forge it."""
    return _run(folder, request, lambda: False)


def _texts(folder: str) -> dict[str, str]:
    """The test files' code, by its path. What does not compile, pytest says better."""
    texts = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name.endswith(".py"):
                with contextlib.suppress(SyntaxError, ValueError), open(path, "rb") as file:
                    text = file.read().decode()
                    ast.parse(text)
                    texts[path] = text
    return texts


def _run(folder: str, request: dict[str, Any], is_over: Callable[[], bool]) -> dict[str, Any]:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    sys.path[:] = [path for path in sys.path if path != folder]  # what lies there is no part of the runner
    import pytest

    sys.path.insert(0, folder)
    expected = request["expected"]
    files = list(dict.fromkeys(name.partition("::")[0] for name in expected))
    report = _Report(frozenset(expected), folder, is_over)
    options = ["-q", "-p", "no:cacheprovider", "-c", request["ini"], "--rootdir", folder, "--confcutdir", folder]
    code = pytest.main([*options, *files], [report])
    if report.syntax is not None:
        return {"syntax": report.syntax}
    return {"done": True, "exit": int(code), "tests": report.tests(), "broken": tuple(report.broken)}


class _Report:
    """A plugin that keeps what pytest says of the tests that are expected, and deselects the others."""

    def __init__(self, expected: frozenset[str], folder: str, is_over: Callable[[], bool]) -> None:
        self.expected = expected
        self.folder = folder
        self.is_over = is_over
        self.began: dict[str, int] = {}
        self.phases: dict[str, list[str]] = {}
        self.bad: dict[str, str] = {}
        self.errors: dict[str, tuple[str, str, str]] = {}
        self.broken: list[tuple[str, tuple[str, str, str]]] = []
        self.syntax: tuple[str, str, str] | None = None
        self.session: Any = None

    def tests(self) -> tuple[Any, ...]:
        """(node id, outcome, error) of every expected test that was begun."""
        return tuple([(name, self._outcome(name), self.errors.get(name, _NONE)) for name in self.began])

    def _outcome(self, name: str) -> str:
        if self.began[name] > 1:
            return "twice"
        return self.bad.get(name) or ("passed" if self.phases.get(name) == _PHASES else "unfinished")

    # pytest's hooks

    def pytest_sessionstart(self, session: Any) -> None:
        self.session = session

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.nodeid in self.expected]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.began[nodeid] = self.began.get(nodeid, 0) + 1

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.excinfo is not None:
            self.errors.setdefault(item.nodeid, self._describe(call.excinfo.value))

    def pytest_runtest_logreport(self, report: Any) -> None:
        name = report.nodeid
        if report.failed:
            self.bad[name] = "failed"
        elif report.skipped or hasattr(report, "wasxfail"):
            self.bad.setdefault(name, "skipped")
        elif type(report).__name__ == "TestReport":  # not a part of a test
            self.phases.setdefault(name, []).append(report.when)
        if self.is_over():
            self.session.shouldstop = "the program is gone"

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if not hasattr(report, "when") or report.when == "collect":
            self._break(node.nodeid, call.excinfo.value)

    def pytest_internalerror(self, excinfo: Any) -> None:
        self._break("pytest", excinfo.value)

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self._break("pytest", excinfo.value)

    def _break(self, where: str, error: BaseException) -> None:
        """Of an error that pytest wraps, what it was before. The caller's own syntax errors are no program's doing."""
        error = error.__cause__ or error
        if isinstance(error, SyntaxError) and not hasattr(error, "_jailpy_text"):
            self.syntax = self._describe(error)
        if len(self.broken) < _MOST_BROKEN:
            self.broken.append((where[:_TEXT], self._describe(error)))

    def _describe(self, error: BaseException) -> tuple[str, str, str]:
        """(type, message, where), of the message its first line, of the place the innermost in the tests' files."""
        try:
            message = str(error).strip().split("\n", 1)[0][:_TEXT]
        except Exception:  # one that cannot even be described
            message = ""
        where, traceback = "", error.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename.startswith(self.folder + "/"):
                where = f"{code.co_filename}:{traceback.tb_lineno} in {code.co_name}"
            traceback = traceback.tb_next
        return type(error).__name__[:_TEXT], message, where[:_TEXT]
