"""Code and a test to what runs inside a jail. Builds data; starts nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jailpy.errors import UsageError
from jailpy.guest import values
from jailpy.limits import Limits
from jailpy.project import OWN_INI, ProjectTest, without_configuration
from jailpy.roots import File
from jailpy.testcase import (
    MAX_VALUE_BYTES,
    MAX_VALUE_NODES,
    AssertTest,
    CallTest,
    CheckTest,
    InteractTest,
    Judge,
    Refereed,
    StdioTest,
    Test,
)
from jailpy.trees import check_tree

SCRIPT = "main.py"
MODULE = "solution.py"
_SYNTAX_FRAME_BYTES = 1 << 16
_NAMES = {"call": MODULE, "modules": OWN_INI, "project": OWN_INI, "beside": OWN_INI}
_PLAIN_INI = b"[pytest]\n"

#: A program as a caller gives it: one text, or the files of a project by name.
Code = str | bytes | Mapping[str, str | bytes]
#: The same, checked.
Program = bytes | tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a Python guest: its code, what else lies in its folder, its stdin, and what the driver shall do."""

    code: bytes
    mode: str = "script"
    stdin: bytes = b""
    files: tuple[File, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    frame_bytes: int = _SYNTAX_FRAME_BYTES

    @property
    def name(self) -> str:
        """The code's file in the working folder."""
        return _NAMES.get(self.mode, SCRIPT)

    def request(self, work: str, more: Mapping[str, Any] | None = None) -> bytes:
        """The driver's request, framed; `work` is the working folder as the guest sees it."""
        body = values.encode(
            {
                "mode": self.mode,
                "path": f"{work}/{self.name}",
                "frame_bytes": self.frame_bytes,
                "frame_nodes": MAX_VALUE_NODES,
                **self.arguments,
                **(more or {}),
            },
            max_bytes=1 << 28,
            max_nodes=1 << 24,
        )
        return len(body).to_bytes(8, "big") + body


def source(code: object, field_name: str = "code") -> bytes:
    """Code as the bytes of its file. UsageError for what is no text."""
    if isinstance(code, bytes):
        return code
    if not isinstance(code, str):
        raise UsageError(field_name, f"{type(code).__name__} given; pass the program's text as str or bytes")
    # A lone surrogate becomes bytes that no Python takes for source: the guest's compile error, not ours.
    return code.encode("utf-8", "surrogatepass")


def check_files(files: Mapping[str, str | bytes] | None, limits: Limits) -> tuple[File, ...]:
    """Files for the working folder, by relative name. UsageError for names that leave it, contradict each other or take
    the program's place, and for more than fits."""
    found = check_tree({} if files is None else files, "files", (SCRIPT, MODULE))
    check_room(found, "files", limits)
    return found


def check_room(files: tuple[File, ...], field_name: str, limits: Limits) -> None:
    """UsageError where files do not fit into the disk limit."""
    size = sum(len(file.content) for file in files)
    if size > limits.disk_bytes:
        raise UsageError(field_name, f"{size} bytes do not fit into disk_mb={limits.disk_mb}; raise it or give less")


def program(code: object) -> Program:
    """A program, checked. UsageError for what is neither a text nor files."""
    return check_tree(code, "code") if isinstance(code, Mapping) else source(code)


def check_program(program: Program | None, tests: Sequence[Test], limits: Limits) -> None:
    """UsageError where the tests take another kind of program, or do not fit into the disk limit."""
    for i, test in enumerate(tests):
        if isinstance(test, ProjectTest):
            check_room(test.files, f"tests[{i}].files", limits)
        elif isinstance(program, tuple):
            raise UsageError("code", f"is a project's files, but tests[{i}] is no project test; give the program's text")


def task_for(test: Test, program: Program, limits: Limits) -> Task:
    """What to run for one test. Expected values stay here: they are in no task."""
    frame_bytes = min(MAX_VALUE_BYTES, limits.output_bytes)
    if isinstance(test, ProjectTest):
        return Task(
            _PLAIN_INI,
            "beside",
            files=_laid_over(without_configuration(_tree(test, program)), test.files),
            arguments=_project_arguments(test),
            frame_bytes=frame_bytes,
        )
    code = _text(program)
    if isinstance(test, (StdioTest, CheckTest)):
        return Task(code, stdin=test.input)
    if isinstance(test, InteractTest):
        return Task(code)
    if isinstance(test, CallTest):
        arguments = {
            "function": test.function,
            "args": test.args,
            "kwargs": dict(test.kwargs),
            "prelude": test.prelude,
        }
        return Task(code, "call", arguments=arguments, frame_bytes=frame_bytes)
    assert isinstance(test, AssertTest)
    return Task(code, "assert", arguments={"test": test.code, "prelude": test.prelude})


def pair_for(test: Refereed, program: Program, limits: Limits) -> tuple[Task, Task]:
    """What to run for a test in two jails: the program, and the test code, which is in no jail with it."""
    if isinstance(test, ProjectTest):
        shared = tuple(file for file in test.files if file.name in test.shared)
        return Task(_PLAIN_INI, "modules", files=_laid_over(_tree(test, program), shared)), Task(
            _PLAIN_INI,
            "project",
            files=test.files,
            arguments=_project_arguments(test),
            frame_bytes=min(MAX_VALUE_BYTES, limits.output_bytes),
        )
    return Task(_text(program), "serve"), Task(
        test.code.encode("utf-8", "surrogatepass"), "referee", arguments={"prelude": test.prelude}
    )


def _project_arguments(test: ProjectTest) -> dict[str, Any]:
    return {"expected": test.expected, "modules": test.modules, "ini": test.ini}


def _tree(test: ProjectTest, program: Program) -> tuple[File, ...]:
    if isinstance(program, bytes):
        return (File(f"{test.modules[0]}.py", program),)
    return tuple(file for file in program if file.name != OWN_INI)


def _laid_over(tree: tuple[File, ...], hidden: tuple[File, ...]) -> tuple[File, ...]:
    """The hidden files, and those of the program's that neither are in their way nor would be imported in their place, as
    a folder or an extension module of the same name would."""
    names = {file.name for file in hidden}
    modules = {name.removesuffix(".py") for name in names if name.endswith(".py")}
    folders = set().union(*map(_folders, names))

    def is_kept(name: str) -> bool:
        folder, _, last = name.rpartition("/")
        module = f"{folder}/{last.partition('.')[0]}".lstrip("/")
        return name not in names | folders and module not in modules and not _folders(name) & (names | modules)

    return (*(file for file in tree if is_kept(file.name)), *hidden)


def _folders(name: str) -> set[str]:
    """The folders on the way to a file."""
    return {name[:at] for at, char in enumerate(name) if char == "/"}


def _text(program: Program) -> bytes:
    assert isinstance(program, bytes)  # check_program has seen to it
    return program


#: By testlib's convention, which names no files but their order: sys.argv[1], [2] and [3] of checkers and interactors.
JUDGE_FILES = ("input.txt", "output.txt", "answer.txt")


def judge_task(judge: Judge, given: bytes, output: bytes | None, answer: bytes) -> Task:
    """A checker's or an interactor's run. An interactor has no output to look at, and may write its own to that name."""
    if judge.function:
        texts = [text.decode("utf-8", "surrogateescape") for text in (given, output or b"", answer)]
        arguments = {"function": "check", "args": tuple(texts), "kwargs": {}}
        return Task(judge.code, "call", arguments=arguments, frame_bytes=MAX_VALUE_BYTES)
    contents = zip(JUDGE_FILES, (given, output, answer), strict=True)
    files = tuple(File(name, content) for name, content in contents if content is not None)
    return Task(judge.code, files=files, arguments={"argv": JUDGE_FILES, "tell": True})
