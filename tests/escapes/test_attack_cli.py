"""`jailpy doctor --attack`, as a user starts it; what it finds is the whole of `test_escapes`."""

from __future__ import annotations

import json

import pytest

from jailpy import doctor_attack, escapes
from jailpy.cli import main
from jailpy.escapes import attack
from jailpy.kernel.probe import host
from jailpy.policy import EXTRAS

NAMES = ["file_host", "kernel_io_uring", "result_false_kill", "fork_daemon"]


@pytest.fixture(autouse=True)
def few_and_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    few = escapes.load(NAMES)
    monkeypatch.setattr(doctor_attack.escapes, "load", lambda: few)
    monkeypatch.setenv("JAILPY_ALLOW_DEGRADED", ",".join(sorted(set(host().missing) - EXTRAS)))


def test_the_table_says_what_stopped_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--attack"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:5]] == sorted(NAMES)
    assert lines[2].split() == ["fork_daemon", "pid_namespace", "left", "yes"]
    assert lines[-1] == f"contained 4 of 4, {' and '.join(attack.ways())}"


def test_json_has_an_object_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--attack", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (row,) = (row for row in rows if row["name"] == "kernel_io_uring")
    assert row["stopped_by"] == "seccomp"
    assert row["seen"] == dict.fromkeys(attack.ways(), "ENOSYS")
    assert row["contained"] is True


def test_one_that_gets_out_fails_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loose = escapes.parse("loose", '"""Works.\n\nrows: F1\nguards: root=ENOENT\n"""\nprint("worked")\n')
    monkeypatch.setattr(doctor_attack.escapes, "load", lambda: [loose])
    assert main(["doctor", "--attack"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert "NO, cold: worked where ENOENT was due" in lines[1]
    assert lines[-1].startswith("contained 0 of 1")
