"""Code and a test to what runs inside a jail. Builds data; starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jailpy.errors import UsageError
from jailpy.guest import values
from jailpy.limits import Limits
from jailpy.roots import File
from jailpy.testcase import MAX_VALUE_BYTES, MAX_VALUE_NODES, AssertTest, CallTest, StdioTest, Test

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


def check_files(files: Mapping[str, str | bytes] | None) -> tuple[File, ...]:
    """Files for the working folder, by relative name. UsageError for a name that leaves it."""
    found = []
    for name, content in (files or {}).items():
        parts = name.split("/")
        if not name or "\0" in name or any(part in ("", ".", "..") for part in parts):
            raise UsageError(f"files[{name!r}]", "names are relative, without '..', empty parts or NUL")
        found.append(File(name, content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content))
    return tuple(found)


def task_for(test: Test, code: bytes, limits: Limits) -> Task:
    """What to run for one test. Expected values stay here: they are in no task."""
    frame_bytes = min(MAX_VALUE_BYTES, limits.output_bytes)
    if isinstance(test, StdioTest):
        return Task(code, stdin=test.input)
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
