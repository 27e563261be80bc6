"""Why a test failed, in one line for a person. What a guest wrote is shown, bounded, and never believed."""

from __future__ import annotations

import re

from jailpy.testcase import AssertTest

MAX_REASON = 300
_MAX_SOURCE = 120
_LINES_OF_ASSERT = 5
_STDERR_READ = 1 << 14
#: What a driver says of the place where something was raised: file, line, function.
_PLACE = re.compile(r"(?:.*/)?([^/]+):([0-9]{1,9}) in (.+)")
#: Where an object lay, as Python's own descriptions end: another place in the next run, and of no use to anybody.
_ADDRESS = re.compile(r"(?<= at 0x)[0-9a-f]{5,16}(?=>)")
_TRACED = re.compile(r' *File "(?:[^"]*/)?([^"/]+)", line ([0-9]+)(?:, in (.+))?')


def one_line(reason: str) -> str:
    """One line, bounded, without anything that a JSON writer or a terminal could choke on, and the same for each run."""
    clean = _ADDRESS.sub("...", reason.encode("utf-8", "backslashreplace").decode("utf-8"))
    clean = "".join(char if char.isprintable() else " " for char in clean)
    return clean if len(clean) <= MAX_REASON else clean[: MAX_REASON - 1] + "…"


def error_line(error: object, test: AssertTest | None = None, file: str = "<test>") -> str:
    """(type, message, where) as the guest wrote it. Where a line of `test` failed without a message, as plain asserts do,
    that line says what was tested; `file` is what the guest calls its code."""
    if not isinstance(error, tuple) or not all(isinstance(part, str) for part in error):
        return "an error that it did not describe"
    kind, message, where = (*error, "", "", "")[:3]
    said = f"{kind}: {message}" if message else kind
    place = _PLACE.fullmatch(where[: 2 * MAX_REASON])
    if place is None:
        return said + (f" at {where}" if where else "")
    name, number, function = place.groups()
    if test is None or name not in (file, "<prelude>"):
        return f"{said} at {name}:{number}" + ("" if function == "<module>" else f" in {function}")
    source = "" if message else _source(test.prelude if name == "<prelude>" else test.code, int(number))
    whose = "test" if name == file else "test's prelude"
    return f"{said} in line {number} of the {whose}" + (source and f": {source}")


def _source(code: str, number: int) -> str:
    """The statement that begins on a line, on one line and cut; "" where there is no such line."""
    lines = code.split("\n")[max(0, number - 1) : number - 1 + _LINES_OF_ASSERT] if number else []
    text = ""
    for line in lines:
        text = f"{text} {line.strip()}" if text else line.strip()
        if sum(map(text.count, "([{")) <= sum(map(text.count, ")]}")):
            break
    return text if len(text) <= _MAX_SOURCE else text[: _MAX_SOURCE - 3] + "..."


def last_error(stderr: bytes) -> str:
    """The error of the last traceback on stderr with its place, or the last line there."""
    lines = stderr[-_STDERR_READ:].decode("utf-8", "backslashreplace").rstrip().split("\n")
    last = next((at for at in range(len(lines) - 1, -1, -1) if _TRACED.match(lines[at])), None)
    error = next((line for line in lines[last:] if line[:1].strip()), "") if last is not None else ""
    if last is None or not error:
        return lines[-1].strip() or "nothing on stderr"
    traced = _TRACED.match(lines[last])
    assert traced
    name, number, function = traced.groups()
    where = f" at {name}:{number}" + ("" if function in (None, "<module>") else f" in {function}")
    # Two lines of a long message leave room for the place.
    return (error if len(error) <= MAX_REASON - 100 else error[: MAX_REASON - 103] + "...") + where
