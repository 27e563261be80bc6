"""Assert tests through the referee: honest programs are judged as in one process, and no program can forge a pass."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from jails import PATIENCE

from jailpy import InfrastructureError, Jail, Limits, Status, Verdict

WIDE = Limits(cpu_s=PATIENCE, wall_s=PATIENCE)

DATA = Path(__file__).parent.parent / "data"


def _sections() -> dict[str, str]:
    """Behind each line `=== name`, up to the next."""
    parts = re.split(r"^=== (.*)\n", (DATA / "referee.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


SECTIONS = _sections()


def _of(kind: str) -> dict[str, str]:
    return {name.removeprefix(f"{kind}: "): text for name, text in SECTIONS.items() if name.startswith(f"{kind}: ")}


PROGRAM = SECTIONS["program"]
#: Tests that the program passes.
HONEST = _of("honest")
#: Tests that it fails, each with the verdict and what the reason holds.
FAILS = _of("fails")
#: Programs that do not solve the task, and a test that each passes when it runs beside it.
FORGED = _of("forged")


@pytest.mark.parametrize("name", HONEST)
def test_honest_programs_pass(jail: Jail, name: str) -> None:
    grade = jail.grade(PROGRAM, [HONEST[name]], limits=WIDE)
    assert (grade.verdict, [outcome.reason for outcome in grade.outcomes]) == (Verdict.PASSED, [""])
    assert grade.in_process is False


@pytest.mark.parametrize("name", FAILS)
def test_what_fails_says_why(jail: Jail, name: str) -> None:
    test, _, right = FAILS[name].partition("\n--- ")
    verdict, _, reason = right.partition(": ")
    grade = jail.grade(PROGRAM, [test], limits=WIDE)
    assert grade.verdict is Verdict(verdict)
    assert reason in grade.outcomes[0].reason


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("def check(candidate): assert candidate(1, 2) == 3", "runs no test"),
        ("import math", "runs no test"),
        ("assert add(1, 2 == 3", "does not compile"),
    ],
)
def test_broken_test_code_is_no_verdict(jail: Jail, test: str, why: str) -> None:
    with pytest.raises(InfrastructureError, match=why):
        jail.grade(PROGRAM, [test], limits=WIDE)


@pytest.mark.parametrize("name", FORGED)
def test_forged_passes_pass_only_beside_the_program(jail: Jail, name: str) -> None:
    program, _, test = FORGED[name].partition("\n--- test\n")
    program = f"{SECTIONS['evil']}\n{program}"
    assert jail.grade(program, [test], limits=WIDE, in_process=True).verdict is Verdict.PASSED
    refereed = jail.grade(program, [test], limits=WIDE)
    assert refereed.verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)


@pytest.mark.parametrize("way", ["warm"], indirect=True)
@pytest.mark.parametrize(
    "attribute",
    ["__array_function__ = itertools.chain", "__array__ = lambda *a, **k: numpy.array([3.5])"],
    ids=["functions of arrays", "an array"],
)
def test_no_library_is_told_how_to_compare(jail: Jail, attribute: str) -> None:
    program = f"import itertools, numpy\nclass Evil:\n    {attribute}\ndef solve(x): return Evil()"
    test = "import numpy\nassert numpy.allclose(solve(2), 3.5)"
    policy = replace(jail.policy, python=sys.executable)  # which has numpy
    with Jail(policy, workers=1) as other:
        assert other.grade(program, [test], limits=WIDE, in_process=True).verdict is Verdict.PASSED
        outcome = other.grade(program, [test], limits=WIDE).outcomes[0]
        right = other.grade("def solve(x): return 3.5", [test], limits=WIDE)
    assert outcome.verdict is Verdict.RUNTIME_ERROR
    assert "unsupported operand" in outcome.reason
    assert right.verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("program", "status", "verdict", "reason"),
    [
        ("def f(): return 1\nimport os\nos._exit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "exit code 0"),
        ("def f(): return 1\nraise SystemExit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "SystemExit"),
        ("def f():\n    import os\n    os._exit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "exit code 0"),
        ("def f(): raise SystemExit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "SystemExit"),
        ("def f(:", Status.EXITED, Verdict.COMPILE_ERROR, "SyntaxError"),
        ("1 / 0", Status.EXITED, Verdict.RUNTIME_ERROR, "ZeroDivisionError"),
        ("def f():\n    import ctypes\n    ctypes.string_at(0)", Status.SIGNALLED, Verdict.RUNTIME_ERROR, "SIGSEGV"),
        ("def f():\n    import os\n    os.kill(os.getpid(), 9)", Status.SIGNALLED, Verdict.RUNTIME_ERROR, "SIGKILL"),
        ("def f():\n    while True: pass", Status.CPU_TIME, Verdict.TIME_LIMIT, "CPU time"),
        ("while True: pass", Status.CPU_TIME, Verdict.TIME_LIMIT, "CPU time"),
        ("def f():\n    import time\n    time.sleep(100)", Status.WALL_TIME, Verdict.TIME_LIMIT, "wall time"),
        ("def f(): return [[0] * 10**5 for _ in range(10**6)]", Status.MEMORY, Verdict.MEMORY_LIMIT, "memory"),
        ("def f(): raise MemoryError", Status.EXITED, Verdict.MEMORY_LIMIT, "MemoryError"),
        ("def f():\n    while True: print('x' * 1000)", Status.OUTPUT, Verdict.OUTPUT_LIMIT, "output"),
        ("def f(): return 'x' * (20 << 20)", Status.EXITED, Verdict.OUTPUT_LIMIT, "too large"),
    ],
    ids=[
        *("exits at once", "SystemExit at once", "exits in a call", "SystemExit in a call", "syntax", "raises at once"),
        *("segfault", "kills itself", "spins in a call", "spins at once", "sleeps", "memory", "no memory", "output"),
        "a large value",
    ],
)
def test_ends_of_the_program(jail: Jail, program: str, status: Status, verdict: Verdict, reason: str) -> None:
    limits = replace(
        Limits(cpu_s=PATIENCE, wall_s=PATIENCE, memory_mb=200, output_mb=2),
        **({"cpu_s": 2.0} if status is Status.CPU_TIME else {"wall_s": 6.0} if status is Status.WALL_TIME else {}),
    )
    grade = jail.grade(program, ["assert f() == 1"], limits=limits)
    outcome = grade.outcomes[0]
    assert (outcome.status, outcome.verdict) == (status, verdict), outcome.reason
    assert reason in outcome.reason


def test_an_endless_generator_is_too_slow(jail: Jail) -> None:
    """Both jails are busy; whichever is first at its limit."""
    limits = Limits(cpu_s=1, wall_s=PATIENCE)
    grade = jail.grade("def f():\n    while True: yield 1", ["for _ in f(): pass"], limits=limits)
    assert grade.verdict is Verdict.TIME_LIMIT
    assert "CPU time limit" in grade.outcomes[0].reason


def test_the_program_cannot_reach_into_the_test(jail: Jail) -> None:
    """A function that the test lends can be called, and nothing else."""
    program = (
        "def solve(f):\n    found = []\n"
        "    for name in ('__globals__', '__code__', '__closure__', '__self__', '__class__'):\n"
        "        try: found.append(f._jailpy_program.ask('get', f._jailpy_back, name) if hasattr(f, '_jailpy_program')"
        " else solve.__globals__['ask'](f, name))\n"
        "        except AttributeError as error: found.append(str(error))\n"
        "    return found\n"
        "def ask(f, name):\n    program = f.__closure__[1].cell_contents\n"
        "    return program.ask('get', f._jailpy_back, name)\n"
    )
    test = (
        "class Mine:\n    secret = 1\n    def method(self): return 2\n"
        "refused = 'the test code\\'s objects can be called and their public attributes used, no more'\n"
        "assert solve(lambda: 1) == [refused] * 5, solve(lambda: 1)\nassert solve(Mine()) == [refused] * 5, solve(Mine())"
    )
    grade = jail.grade(program, [test], limits=WIDE)
    assert grade.verdict is Verdict.PASSED, grade.outcomes[0].reason


def test_both_jails_are_gone(jail: Jail) -> None:
    """A program that goes on after its test: the grade comes, and nothing of it is left (the fixture looks)."""
    program = (
        "import os, threading, time, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "if os.fork() == 0: time.sleep(1000)\ndef f(): return 1"
    )
    assert jail.grade(program, ["assert f() == 1"], limits=WIDE).verdict is Verdict.PASSED
    assert jail.grade(program, ["assert f() == 2"], limits=WIDE).verdict is Verdict.WRONG_ANSWER


def test_expected_values_are_not_in_the_programs_jail(jail: Jail) -> None:
    program = (
        "import os\ndef look():\n    found = []\n    for root in ('/box', '/tmp', '/jailpy', '/dev/shm'):\n"
        "        for folder, _, names in os.walk(root):\n            for name in names:\n"
        "                found.append(open(os.path.join(folder, name), 'rb').read())\n"
        "    for name in ('cmdline', 'environ'):\n        found.append(open('/proc/self/' + name, 'rb').read())\n"
        "    return any(b'48151' + b'62342' in text for text in found)"
    )
    assert jail.grade(program, ["right = '4815162342'\nassert look() is False"], limits=WIDE).verdict is Verdict.PASSED
    beside = jail.grade(program, ["right = '4815162342'\nassert look() is True"], limits=WIDE, in_process=True)
    assert beside.in_process is True


def test_a_broken_jail_is_no_verdict(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    from jailpy import jail as module  # to be broken

    def broken(*_: object, **__: object) -> object:
        raise InfrastructureError("no jail today")

    monkeypatch.setattr(module.Jail, "_ready", broken)
    with pytest.raises(InfrastructureError, match="no jail today"):
        jail.grade(PROGRAM, ["assert add(1, 2) == 3"])
