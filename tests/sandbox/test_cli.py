"""The command line, as a user starts it, on the kernel that is there."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jailpy import Grade, Policy, Verdict, __version__, doctor, lower
from jailpy.kernel.probe import host
from jailpy.policy import DEGRADABLE, EXTRAS, LAYERS

ROOT = Path(__file__).parents[2]
LACKING = sorted(set(host().missing) - EXTRAS)
OK_TESTS = [{"input": "2\n", "expected_output": "4\n"}]
DOUBLE = "print(2 * int(input()))"


def start(*arguments: str, allow: str | None = None, **options) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "JAILPY_ALLOW_DEGRADED": ",".join(LACKING) if allow is None else allow,
    }
    command = [sys.executable, "-m", "jailpy", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, **options)


def jailpy(*arguments: str, stdin: bytes = b"", allow: str | None = None) -> subprocess.CompletedProcess[bytes]:
    with start(*arguments, allow=allow) as process:
        stdout, stderr = process.communicate(stdin, timeout=100)
    return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)


def lines_of(data: bytes) -> list[dict]:
    return [json.loads(line) for line in data.splitlines()]


def test_the_demo_judges_every_program_as_expected_and_says_so() -> None:
    done = jailpy("demo", "--quick", allow="")
    assert done.returncode == 0, done.stderr.decode()
    text = done.stdout.decode()
    assert text.startswith("problem set")
    for problem_set in ("HumanEval", "MBPP", "MBPP calls", "stdio"):
        assert f"\n{problem_set}" in text
    assert "right ones passed 32 of 32" in text
    assert "wrong ones rejected 24 of 24" in text
    for layer in LACKING:
        assert layer in text.splitlines()[-1]
    assert b"100 %" in done.stderr
    assert b"\r" not in done.stderr  # no terminal, so nothing is rewritten in place


def test_run_passes_output_through_and_gives_the_exit_code(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nsys.stdout.buffer.write(b'\\xff' + sys.stdin.buffer.read())\nsys.stderr.write('e')\nsys.exit(7)\n"
    )
    done = jailpy("run", str(program), "--stdin", "-", stdin=b"\x00in")
    assert done.returncode == 7
    assert done.stdout == b"\xff\x00in"
    first, last = done.stderr.decode().splitlines()
    assert first == "e"
    assert last.startswith("jailpy: exit code 7; ")


@pytest.mark.parametrize(
    ("code", "options", "status", "said"),
    [
        ("pass", (), 0, "exit code 0"),
        ("while True: pass", ("--cpu-s", "0.2"), 1, "CPU time limit"),
        ("import time; time.sleep(60)", ("--wall-s", "0.2"), 1, "wall time limit"),
        ("import os; os.abort()", (), 1, "killed by SIGABRT"),
        ("print('x' * 3000000)", ("--output-mb", "1"), 1, "output limit"),
    ],
)
def test_run_says_how_a_program_ended(code: str, options: tuple[str, ...], status: int, said: str) -> None:
    done = jailpy("run", "-", *options, stdin=code.encode())
    assert done.returncode == status
    assert said in done.stderr.decode().splitlines()[-1]


def test_run_as_json_carries_every_byte() -> None:
    done = jailpy("run", "-", "--json", stdin=b"import os; os.write(1, bytes(range(256)))")
    result = json.loads(done.stdout)
    assert result["stdout"].encode("utf-8", "surrogateescape") == bytes(range(256))
    assert (result["status"], result["exit_code"], done.returncode) == ("exited", 0, 0)
    assert result["enforced"]["seccomp"] == "on"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "required: command"),
        (("serve",), "invalid choice"),
        (("run", "no-such-file.py"), "jailpy: no-such-file.py: cannot be opened"),
        (("run", "-", "--cpu-s", "x"), "--cpu-s"),
        (("run", "-", "--cpu-s", "-1"), "jailpy: limits.cpu_s"),
        (("run", "-", "--language", "cobol"), "jailpy: language"),
        (("run", "-", "--stdin", "-"), "jailpy: --stdin"),
        (("run", "-", "--allow-degraded", "moat"), "jailpy: policy.allow_degraded: 'moat' is no layer"),
        (("demo", "--quick", "--allow-degraded", "seccomp"), "jailpy: policy.allow_degraded: 'seccomp'"),
        (("demo", "--workers", "0"), "jailpy: workers"),
        (("grade", "-", "--scoring", "own"), "--scoring"),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(arguments: tuple[str, ...], said: str) -> None:
    done = jailpy(*arguments)
    assert done.returncode == 2
    text = done.stderr.decode()
    assert said in text
    assert "Traceback" not in text
    assert done.stdout == b""


@pytest.mark.skipif(not LACKING, reason="this host lacks no layer")
def test_a_missing_layer_is_one_line_and_status_70() -> None:
    done = jailpy("run", "-", allow="", stdin=b"pass")
    assert done.returncode == 70
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"jailpy: {LACKING[0]}: ") or any(line.startswith(f"jailpy: {layer}: ") for layer in LACKING)
    allowed = line.rpartition("--allow-degraded ")[2]
    assert jailpy("run", "-", "--allow-degraded", allowed, allow="", stdin=b"pass").returncode == 0


def test_version() -> None:
    assert jailpy("--version").stdout.decode().strip() == f"jailpy {__version__}"


def test_grade_names_bad_lines_and_judges_the_others() -> None:
    good = {"id": "a", "code": DOUBLE, "tests": OK_TESTS}
    lines = [
        json.dumps(good),
        "not json",
        "",
        json.dumps([1]),
        json.dumps({**good, "id": "typo", "limit": {}}),
        json.dumps({"id": "no-tests", "code": DOUBLE}),
        json.dumps({**good, "id": "bad-tests", "tests": []}),
        json.dumps({**good, "id": "bad-limits", "limits": {"cpu": 1}}),
        json.dumps({**good, "id": "bad-type", "tests": [{"type": "oral"}]}),
        json.dumps({**good, "id": "bad-language", "language": "cobol"}),
        json.dumps({"code": "print(5)", "tests": OK_TESTS * 2, "scoring": {"other": -7}}),
        json.dumps({**good, "id": "beside", "tests": ["assert 1"], "in_process": True, "code": "x = 1"}),
    ]
    done = jailpy("grade", "-", "--ordered", "--scoring", "fraction", stdin="\n".join(lines).encode())
    assert done.returncode == 1
    out = lines_of(done.stdout)
    assert [item.get("line") for item in out] == [None, 2, 4, 5, 6, 7, 8, 9, 10, None, None]
    assert [item["id"] for item in out[3:9]] == [
        "typo",
        "no-tests",
        "bad-tests",
        "bad-limits",
        "bad-type",
        "bad-language",
    ]
    for item, named in zip(
        out[1:9],
        ("line: is not JSON", "line: a list", "limit:", "tests:", "tests:", "limits.cpu:", "tests[0].type:", "language:"),
        strict=True,
    ):
        assert item["error"].startswith(named)
        assert item["reward"] is None
    first, table, beside = (Grade.from_json(json.dumps(item)) for item in (out[0], *out[9:]))
    assert (first.id, first.reward, first.verdict) == ("a", 1.0, Verdict.PASSED)
    assert (table.id, table.reward) == (11, -7.0)
    assert (beside.id, beside.in_process) == ("beside", True)
    assert "3 judged, 8 refused" in done.stderr.decode().splitlines()[-1]


def test_grade_takes_programs_from_answers() -> None:
    job = {"code": f"So:\n```python\n{DOUBLE}\n```", "tests": OK_TESTS}
    lines = [json.dumps({**job, "extract": flag}) for flag in (True, False, 1)] + [json.dumps(job)]
    for arguments, rewards in (((), [1.0, -2.0, None, -2.0]), (("--extract",), [1.0, -2.0, None, 1.0])):
        out = lines_of(jailpy("grade", "-", "--ordered", *arguments, stdin="\n".join(lines).encode()).stdout)
        assert [item["reward"] for item in out] == rewards
        assert out[2]["error"].startswith("extract:")


def test_grade_reads_and_writes_files(tmp_path: Path) -> None:
    jobs, out = tmp_path / "jobs.jsonl", tmp_path / "grades.jsonl"
    with jobs.open("w") as file:
        for number in range(12):
            file.write(json.dumps({"id": number, "code": DOUBLE, "tests": OK_TESTS}) + "\n")
    done = jailpy("grade", str(jobs), "--out", str(out))
    assert (done.returncode, done.stdout) == (0, b"")
    grades = [Grade.from_json(line) for line in out.read_text().splitlines()]
    assert sorted(grade.id for grade in grades) == list(range(12))
    assert {grade.reward for grade in grades} == {1.0}


def test_grade_writes_a_grade_before_the_input_ends() -> None:
    with start("grade", "-") as process:
        assert process.stdin and process.stdout
        for number in range(2):
            process.stdin.write(json.dumps({"id": number, "code": DOUBLE, "tests": OK_TESTS}).encode() + b"\n")
            process.stdin.flush()
            begun = time.monotonic()
            assert json.loads(process.stdout.readline())["id"] == number
            assert time.monotonic() - begun < 30
        process.stdin.close()
        assert process.wait(60) == 0
        assert process.stderr and process.stderr.read()


def test_grade_ends_quietly_when_its_reader_is_gone() -> None:
    with start("grade", "-") as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(json.dumps({"code": DOUBLE, "tests": OK_TESTS}).encode() + b"\n")
        process.stdin.close()
        assert process.wait(60) == 1
        assert b"Traceback" not in process.stderr.read()


def test_doctor_agrees_with_what_is_enforced() -> None:
    how = lower.enforced(Policy(allow_degraded=DEGRADABLE), host())
    done = jailpy("doctor", allow="")
    text = done.stdout.decode()
    states = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name in LAYERS:
            states[name] = rest.split()[0]
    assert states == {layer: "OK" if how[layer] == "on" else "MISSING" for layer in LAYERS}, text
    assert done.returncode == (1 if LACKING else 0)
    assert text.count("to have it: ") == list(states.values()).count("MISSING")
    as_json = json.loads(jailpy("doctor", "--json", allow="").stdout)
    assert {item["layer"]: item["state"] for item in as_json["layers"]} == states
    assert as_json["exit_status"] == done.returncode


def test_doctor_calls_a_layer_broken_when_its_facts_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = doctor._facts_inside
    free = {
        "namespaces": dict.fromkeys(("user", "pid", "mnt", "net", "ipc", "uts", "cgroup"), ""),
        "sentinel": "done",
        "root_write": "done",
        "proc_meminfo": "done",
        "core": [0, 0],
        "inet": "done",
        "landlock_layers": 16,
        "signal_init": "done",
        "status": {"CapPrm": "1", "CapEff": "1", "CapBnd": "1", "CapAmb": "0", "NoNewPrivs": "0", "Seccomp": "0"},
    }
    monkeypatch.setattr(doctor, "_facts_inside", lambda jail: {**genuine(jail), **free})
    monkeypatch.setattr(doctor, "_SLEEPER", "pass")
    monkeypatch.setattr(doctor, "_TAKE_MEMORY", "pass")
    monkeypatch.setattr(doctor, "_FORK_BOMB", "pass")
    report = doctor.examine()
    broken = {finding.layer for finding in report.findings if finding.state is doctor.State.BROKEN}
    stood_in = {"memory_cgroup", "pids_cgroup"}
    assert broken == set(LAYERS) - (set(host().missing) - stood_in)
    assert report.exit_status == 2
