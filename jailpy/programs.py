"""Code and a test to what runs inside a jail. Builds data; starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jailpy.errors import UsageError
from jailpy.guest import values
from jailpy.limits import Limits
from jailpy.roots import File
from jailpy.testcase import (
    MAX_VALUE_BYTES,
    MAX_VALUE_NODES,
    AssertTest,
    CallTest,
    CheckTest,
    InteractTest,
    Judge,
    StdioTest,
    Test,
)

SCRIPT = "main.py"
MODULE = "solution.py"
_SYNTAX_FRAME_BYTES = 1 << 16


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
        return MODULE if self.mode == "call" else SCRIPT

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


def as_bytes(data: object, field_name: str) -> bytes:
    """Data for a guest as bytes. UsageError for what is neither text nor bytes."""
    if isinstance(data, str):
        try:
            return data.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise UsageError(field_name, f"no UTF-8 has {data[error.start]!r}; pass the bytes that are meant") from None
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    raise UsageError(field_name, f"{type(data).__name__} given; pass str or bytes")


_MOST_FILES = 1000
_LONGEST_PART, _LONGEST_NAME = 255, 4000  # bytes, as Linux has them (NAME_MAX, and PATH_MAX less what stands in front)


def check_files(files: Mapping[str, str | bytes] | None, limits: Limits) -> tuple[File, ...]:
    """Files for the working folder, by relative name. UsageError for names that leave it, contradict each other or take
    the program's place, and for more than fits."""
    if files is not None and not isinstance(files, Mapping):
        raise UsageError("files", f"{type(files).__name__} given; pass a mapping of relative names to contents")
    found = [File(_file_name(name), as_bytes(content, f"files[{name!r}]")) for name, content in (files or {}).items()]
    names = {file.name for file in found}
    folders = {name[:at] for name in names for at, char in enumerate(name) if char == "/"}
    for name in sorted(names & folders):
        raise UsageError(f"files[{name!r}]", "is also the folder of another file; one name cannot be both")
    if len(found) + len(folders) > _MOST_FILES:
        raise UsageError("files", f"{len(found)} files in {len(folders)} folders; give at most {_MOST_FILES} together")
    size = sum(len(file.content) for file in found)
    if size > limits.disk_bytes:
        raise UsageError("files", f"{size} bytes do not fit into disk_mb={limits.disk_mb}; raise it or give less")
    return tuple(found)


def _file_name(name: object) -> str:
    field_name = f"files[{name!r}]"
    if not isinstance(name, str):
        raise UsageError(field_name, f"the name is {type(name).__name__}; names are text")
    parts = name.split("/")
    if "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise UsageError(field_name, "names are relative, without '..', empty parts or NUL")
    if name in (SCRIPT, MODULE):
        raise UsageError(field_name, "the program itself has this name; choose another")
    raw = as_bytes(name, field_name)
    if len(raw) > _LONGEST_NAME or any(len(part) > _LONGEST_PART for part in raw.split(b"/")):
        raise UsageError(field_name[:80], f"a part may have {_LONGEST_PART} bytes and the whole name {_LONGEST_NAME}")
    return name


def task_for(test: Test, code: bytes, limits: Limits) -> Task:
    """What to run for one test. Expected values stay here: they are in no task."""
    frame_bytes = min(MAX_VALUE_BYTES, limits.output_bytes)
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


def pair_for(test: AssertTest, code: bytes) -> tuple[Task, Task]:
    """What to run for a test in two jails: the program, and the test code, which is in no jail with it."""
    return Task(code, "serve"), Task(
        test.code.encode("utf-8", "surrogatepass"), "referee", arguments={"prelude": test.prelude}
    )


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
