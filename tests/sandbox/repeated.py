"""Programs that do not run alike and give alike (tests/data/repeat.txt), in each form that a test can have."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent.parent / "data" / "repeat.txt"


@dataclass(frozen=True)
class Repeated:
    """One program, its one test, and the verdict that is right."""

    name: str
    code: str
    test: dict[str, Any]
    verdict: str


def _forms(name: str, code: str, end: str) -> list[Repeated]:
    expected, _, verdict = end.strip().rpartition(" ")
    if verdict not in ("runtime_error", "wrong_answer"):
        expected, verdict = end.strip(), "passed"
    value = ast.literal_eval(expected)
    return [
        Repeated(f"{name}, printed", f"{code}\nprint(f())\n", {"input": "", "expected_output": str(value)}, verdict),
        Repeated(f"{name}, called", code, {"function": "f", "args": [], "expected": value}, verdict),
        Repeated(f"{name}, asserted", code, {"code": f"assert f() == {expected}, f()"}, verdict),
    ]


def _read() -> list[Repeated]:
    parts = re.split(r"^=== (.*)\n", _DATA.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = []
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        code, _, end = text.partition("\n--- ")
        found += _forms(name, code, end)
    return found


REPEATED = _read()
