"""`jailpy hacks`, as a user starts it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from jailpy import hacks
from jailpy.kernel.probe import host
from jailpy.policy import EXTRAS

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "JAILPY_ALLOW_DEGRADED": ",".join(sorted(set(host().missing) - EXTRAS)),
}
HACKS = (sys.executable, "-m", "jailpy", "hacks")
JAILPY_AS_COMMAND = """
import json, sys, jailpy
job = json.load(sys.stdin)
print("some talk first")
print(jailpy.execute_code(job["code"], job["tests"]))
"""


def jailpy_hacks(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HACKS, *arguments], input=stdin, env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=False
    )


def naive(grader: str) -> str:
    return shlex.join([*HACKS, "--as", grader])


def test_the_table_says_who_is_fooled() -> None:
    names = ("equal_object", "forge_frame", "output_nothing")
    done = jailpy_hacks(*names)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == list(names)
    assert "stdio_zip/stdio" in lines[3]
    assert lines[-1] == "0 of 3 pass in jailpy; 3 of 3 fool a naive in-process grader"


def test_json_has_an_object_for_each() -> None:
    done = jailpy_hacks("--json", "output_nothing")
    (row,) = map(json.loads, done.stdout.splitlines())
    assert row["name"] == "output_nothing"
    assert row["fooled"] == ["stdio_zip/stdio"]
    assert row["not_fooled"] == []
    assert row["jailpy"]["passed"] == row["jailpy"]["not_judged"] == []
    assert row["jailpy"]["verdicts"]["wrong_answer"] >= 2


def test_techniques_are_listed_and_shown() -> None:
    assert len(jailpy_hacks("--list").stdout.splitlines()) == len(hacks.load())
    (listed,) = map(json.loads, jailpy_hacks("--list", "--json", "exit_sys_exit").stdout.splitlines())
    assert listed["rows"] == ["G1"]
    (hack,) = hacks.load(["exit_sys_exit"])
    assert jailpy_hacks("--show", "exit_sys_exit").stdout == hack.code


def test_another_grader_is_measured_by_its_command() -> None:
    done = jailpy_hacks("--against", naive("exec_in_child"), "--json", "equal_object", "output_nothing", "exit_fork")
    assert done.returncode == 1, done.stderr
    rows = {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}
    # Calls and stdin are nothing that this grader takes, which the honest program shows.
    assert rows["output_nothing"]["result"] == "not tried"
    assert rows["equal_object"]["fooled"] == ["equal", "unittest"]
    assert rows["equal_object"]["rewards"] == {"equal": 1.0, "unittest": 1.0}
    assert rows["exit_fork"]["result"] == "held"


def test_a_grader_that_is_not_fooled_gives_0() -> None:
    command = shlex.join([sys.executable, "-c", JAILPY_AS_COMMAND])
    done = jailpy_hacks("--against", command, "--suites", "stdio,call", "equal_object", "forge_pipes")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "0 of 2 techniques fool it; 0 not tried"


@pytest.mark.parametrize(
    "command",
    [
        "false",  # refuses everything
        f"{sys.executable} -c 'print(0)'",  # fails everything
        f"{sys.executable} -c 'print(1)'",  # passes everything
        f"{sys.executable} -c 'print(float(\"nan\"))'",
        f"{sys.executable} -c 'print(\"1 or so\")'",
        f"{sys.executable} -c 'print(1); raise SystemExit(3)'",
        "sleep 1000",
    ],
)
def test_a_command_that_tells_nothing_apart_is_not_called_safe(command: str) -> None:
    done = jailpy_hacks("--against", command, "--seconds", "1", "exit_sys_exit")
    assert done.returncode == 1
    first, last = done.stdout.splitlines()[-2:]
    assert first.startswith("left out, where it does not reward the honest program more than a wrong one: equal")
    assert last == "0 of 0 techniques fool it; 1 not tried"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("no_such",), "no_such: is no technique"),
        (("--against", ""), "--against: is empty"),
        (("--against", "'"), "--against: No closing quotation"),
        (("--against", "/no/such/command"), "--against: /no/such/command cannot be started"),
        (("--against", "true", "--suites", "nope"), "--suites: 'nope' is no suite"),
        (("--as", "nobody"), "--as: 'nobody' is no naive grader"),
    ],
)
def test_wrong_calls_are_told(arguments: tuple[str, ...], said: str) -> None:
    done = jailpy_hacks(*arguments, stdin='{"code": "", "tests": []}')
    assert done.returncode == 2
    assert said in done.stderr


def test_a_naive_grader_wants_a_job() -> None:
    for stdin in ("", "[]", '{"code": ""}'):
        done = jailpy_hacks("--as", "exit_status", stdin=stdin)
        assert done.returncode == 2
        assert "stdin: is no job" in done.stderr
