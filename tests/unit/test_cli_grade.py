"""How a scoring is named in a line of JSON and on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jailpy import Job, Scoring, UsageError
from jailpy.cli_grade import parse_line, scoring_of

NAMED: list[tuple[Any, Scoring]] = [
    ("binary", Scoring.binary()),
    ({"passed": 2, "other": -7}, Scoring.table(passed=2, other=-7)),
    ({"name": "table", "passed": 2, "cap": 1}, Scoring.table(passed=2, cap=1)),
    ({"name": "seed", "floor": -1, "group_caps": {"1": 0.5}}, Scoring.seed(floor=-1, group_caps={1: 0.5})),
    ({"name": "fraction", "groups": False}, Scoring.fraction(groups=False)),
    ({"name": "efficiency", "reference": "pass", "worst": 5}, Scoring.efficiency("pass", worst=5)),
    ({"name": "growth", "expected": "n log n"}, Scoring.growth("n log n")),
]


@pytest.mark.parametrize(("plain", "scoring"), NAMED)
def test_named(plain: Any, scoring: Scoring) -> None:
    line = json.dumps({"code": "", "tests": [], "scoring": plain}).encode()
    assert parse_line(line, 1, Job("", None)).scoring == scoring
    assert scoring_of(plain if isinstance(plain, str) else json.dumps(plain)) == scoring


@pytest.mark.parametrize(
    "plain",
    [
        "own",
        5,
        ["seed"],
        {"name": "own"},
        {"name": ["seed"]},
        {"name": "seed", "passed": 1},
        {"name": "growth"},
        {"name": "efficiency"},
        {"name": "efficiency", "reference": 5},
        {"pased": 1},
        {"passed": "1"},
        {"floor": 1, "cap": 0},
    ],
)
def test_misnamed(plain: Any) -> None:
    line = json.dumps({"code": "", "tests": [], "scoring": plain}).encode()
    with pytest.raises(UsageError, match="scoring"):
        parse_line(line, 1, Job("", None))


@pytest.mark.parametrize("text", ["own", "", "{", '{"name": "own"}', '{"cap": NaN}', "[1]"])
def test_misnamed_on_the_command_line(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        scoring_of(text)
    assert caught.value.field == "--scoring"


def test_a_programs_files() -> None:
    files = {"core.py": "x = 1"}
    line = json.dumps({"code": files, "tests": []}).encode()
    assert parse_line(line, 1, Job("", None)).code == files
    with pytest.raises(UsageError, match="a list is neither a program's text nor a project's files"):
        parse_line(b'{"code": [], "tests": []}', 1, Job("", None))
