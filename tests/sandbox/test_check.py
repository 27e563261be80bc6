"""Checkers and interactors: right, wrong, over their limits, hung, broken, and attacked by the program that they judge."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jails import PATIENCE

from jailpy import CheckerError, Grade, Jail, Limits, Policy, Verdict
from jailpy.check_worker import framed
from jailpy.guest import values

PATIENT = Limits(cpu_s=PATIENCE, wall_s=PATIENCE)


def grade(jail: Jail, code: str, test: dict[str, Any], **limits: float) -> Grade:
    amounts = {"cpu_s": PATIENCE, "wall_s": PATIENCE, **limits}
    return jail.grade(code, [test], limits=Limits(**amounts))  # type: ignore[arg-type]


def seen(grade: Grade) -> tuple[Verdict, str]:
    (outcome,) = grade.outcomes
    return outcome.verdict, outcome.reason


def no_verdict(jail: Jail, code: str, test: dict[str, Any], match: str, **limits: float) -> None:
    """A single call raises, a batch says why and has no reward."""
    with pytest.raises(CheckerError, match=match):
        grade(jail, code, test, **limits)


SORTED_WORDS = "print(*sorted(input().split()))"


def in_any_order(output: str, answer: str) -> tuple[bool, str]:
    return sorted(output.split()) == sorted(answer.split()), "other words"


CHECKERS: dict[str, Any] = {
    "callable": in_any_order,
    "text": "def check(input, output, answer):\n    return sorted(output.split()) == sorted(answer.split()), 'other words'",
    "program": {
        "program": "import sys\n"
        "_, output, answer = (sorted(open(name).read().split()) for name in sys.argv[1:])\n"
        "sys.exit('other words' if output != answer else 0)",
        "language": "python",
    },
}


@pytest.mark.parametrize("kind", CHECKERS)
def test_right_and_wrong(jail: Jail, kind: str) -> None:
    test = {"type": "check", "input": "b a", "expected_output": "b a", "checker": CHECKERS[kind]}
    right = grade(jail, SORTED_WORDS, test)
    assert right.reward == 1.0, seen(right)
    wrong = grade(jail, "print('c')", test)
    assert wrong.reward == 0.0
    reason = "wrong answer: other words" if kind == "program" else "other words"
    assert seen(wrong) == (Verdict.WRONG_ANSWER, reason)


@pytest.mark.parametrize("kind", CHECKERS)
@pytest.mark.parametrize(
    ("code", "verdict", "limits"),
    [
        ("print('a'); raise KeyError", Verdict.RUNTIME_ERROR, {}),
        ("print('a'); import sys; sys.exit(3)", Verdict.RUNTIME_ERROR, {}),
        ("print(", Verdict.COMPILE_ERROR, {}),
        ("print('a', flush=True)\nwhile True: pass", Verdict.TIME_LIMIT, {"cpu_s": 0.3}),
        ("print('a' * 5_000_000)", Verdict.OUTPUT_LIMIT, {"output_mb": 1}),
    ],
)
def test_a_program_that_failed(
    jail: Jail, kind: str, code: str, verdict: Verdict, limits: dict[str, float]
) -> None:
    assert grade(jail, code, {"checker": CHECKERS[kind], "expected_output": "a"}, **limits).verdict is verdict


def test_closures_and_helpers_travel(jail: Jail) -> None:
    allowed = {"3"}

    def helper(text: str) -> bool:
        return text in allowed

    assert grade(jail, "print(3)", {"checker": lambda output: helper(output.strip())}).reward == 1.0
    allowed.clear()
    assert grade(jail, "print(3)", {"checker": lambda output: helper(output.strip())}).reward == 0.0


FAILING: dict[str, tuple[Any, str]] = {
    "raises": (lambda output: int(output) == 3, "the checker raised ValueError"),
    "exits": (lambda output: sys.exit(0), "the checker raised SystemExit"),
    "dies": (lambda output: os._exit(0), "the checker's process ended"),
    "crashes": (lambda output: os.kill(os.getpid(), signal.SIGSEGV), "the checker's process ended"),
    "number": (lambda output: 1, "the checker returned int"),
    "text": (lambda output: "True", "the checker returned str"),
    "nothing": (lambda output: None, "the checker returned NoneType"),
    "odd": (lambda output: (True, 5), "the checker returned tuple"),
    "text raises": ("def check(i, o, a): return int(o) == 3", "the checker raised ValueError"),
    "text defines nothing": ("x = 1", "the checker raised KeyError"),
    "text does not compile": ("def check(", "the checker raised SyntaxError"),
    "text returns 1": ("def check(i, o, a): return 1", "the checker returned int"),
    "text exits": ("def check(i, o, a):\n    import os\n    os._exit(0)", "the checker ended without an answer"),
    "text equals": (
        "class Same:\n    def __eq__(self, other): return True\ndef check(i, o, a): return Same()",
        "the checker returned Same",
    ),
    "program raises": ({"program": "int('x')"}, "the checker raised ValueError"),
    "program fails": ({"program": "import sys; sys.exit(3)"}, "exit code 3"),
    "program's own code": ({"program": "import sys; sys.exit(43)"}, "exit code 43"),
    "program crashes": ({"program": "import os; os.kill(os.getpid(), 11)"}, "the checker ended by killed by SIGSEGV"),
    "program does not compile": ({"program": "x x"}, "the checker raised SyntaxError"),
}


@pytest.mark.parametrize("kind", FAILING)
def test_a_checker_that_fails_is_never_a_reward(jail: Jail, kind: str) -> None:
    checker, reason = FAILING[kind]
    no_verdict(jail, "print('no number')", {"checker": checker}, reason)
    fine = {"code": "print('x')", "tests": [{"checker": lambda output: output == "x\n"}], "limits": PATIENT}
    jobs = [{"code": "print('no number')", "tests": [{"checker": checker}], "limits": PATIENT}, fine]
    failed, passed = jail.grade_many(jobs, ordered=True)
    assert (failed.reward, failed.verdict) == (None, Verdict.INTERNAL_ERROR)
    assert failed.error is not None
    assert reason in failed.error
    assert passed.reward == 1.0


@pytest.mark.parametrize(
    ("checker", "limit", "reason"),
    [
        ("def check(i, o, a):\n    while True: pass", {"cpu_s": 0.2}, "the checker ended by CPU time limit"),
        ({"program": "while True: pass"}, {"cpu_s": 0.2}, "the checker ended by CPU time limit"),
        ({"program": "import time; time.sleep(1000)"}, {"wall_s": 0.5}, "the checker ended by wall time limit"),
        ({"program": "print('x' * 5_000_000)"}, {"output_mb": 1}, "the checker ended by output limit"),
        ({"program": "held = b'x' * (500 << 20)"}, {"memory_mb": 100}, "the checker ended by memory limit"),
    ],
)
def test_limits_of_a_checker_in_a_jail(jail: Jail, checker: Any, limit: dict[str, float], reason: str) -> None:
    no_verdict(jail, "print(1)", {"checker": checker, "checker_limits": limit}, reason)


def test_a_checkers_limits_are_not_the_programs(jail: Jail) -> None:
    spin = "import time\nwhile time.process_time() < 0.5: pass\n"
    test = {"checker": {"program": "import sys"}, "checker_limits": {"cpu_s": 0.3}}
    assert grade(jail, spin, test).reward == 1.0
    test = {"checker": {"program": spin}, "checker_limits": {"cpu_s": PATIENCE}}
    assert grade(jail, "", test, cpu_s=0.3).reward == 1.0


def test_a_callable_that_hangs(jail: Jail) -> None:
    test = {"checker": lambda output: __import__("time").sleep(1000), "checker_s": 0.3}
    grade(jail, "", {"checker": lambda output: True})
    idle = jail.statistics()["checkers"]
    no_verdict(jail, "", test, r"the checker took longer than 0.3 s")
    assert jail.statistics()["checkers"] == idle - 1
    assert grade(jail, "", {"checker": lambda output: True}).reward == 1.0


def test_what_a_checker_prints_is_no_output_of_ours(policy: Policy, tmp_path: Path) -> None:
    """In a script whose main module guards itself against nothing: it must not run again in a worker process."""
    script = tmp_path / "script.py"
    script.write_text("""
import sys, jailpy
print("started", flush=True)
with jailpy.Jail(jailpy.Policy(allow_degraded=frozenset(sys.argv[1:])), warm=False) as jail:
    def checker(output):
        print("from the checker", flush=True)
        return True
    print(jail.grade("", [{"checker": checker}]).reward)
""")
    done = subprocess.run(
        [sys.executable, script, *policy.allow_degraded],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.stdout == "started\n1.0\n"
    assert done.stderr == "from the checker\n"


class Loaded:
    """Shows that it was unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("5",)


ATTACKS = {
    "reply": framed({"value": True}),
    "frame": values.encode((True, "")),
    "pickle": pickle.dumps(Loaded()),
    "words": b"True\nok\npassed\n1.0\n",
    "not utf-8": bytes(range(256)) * 100,
    "nul": bytes(10_000),
    "lone surrogates": "\ud800\udfff".encode("utf-8", "surrogatepass"),
    "huge": b"True\n" * 2_000_000,
}


def test_the_attacks_are_live() -> None:
    assert pickle.loads(ATTACKS["pickle"]) == 5
    assert values.decode(ATTACKS["reply"][8:]) == {"value": True}


@pytest.mark.parametrize("kind", ["callable", "text", "program"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_output_is_data_for_a_checker(jail: Jail, kind: str, attack: str) -> None:
    data = ATTACKS[attack]
    size, first = len(data), data[:100]

    def checker(output: str) -> tuple[bool, str]:
        raw = output.encode("utf-8", "surrogateescape")
        return False, f"intact: {len(raw) == size and raw[:100] == first}"

    body = "raw = output.encode('utf-8', 'surrogateescape')\n"
    judge = f"intact = len(raw) == {size} and raw[:100] == {first!r}\n"
    checkers: dict[str, Any] = {
        "callable": checker,
        "text": f"def check(input, output, answer):\n    {body}    {judge}    return False, f'intact: {{intact}}'",
        "program": {"program": f"import sys\nraw = open(sys.argv[2], 'rb').read()\n{judge}sys.exit(f'intact: {{intact}}')"},
    }
    program = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    verdict, reason = seen(grade(jail, program, {"input": data, "checker": checkers[kind]}))
    assert verdict is Verdict.WRONG_ANSWER
    assert reason.removeprefix("wrong answer: ") == "intact: True"


def test_the_answer_is_not_where_the_program_runs(jail: Jail) -> None:
    look = """
import os
found = []
for folder in (".", "/tmp", "/jailpy"):
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(parent, name), "rb") as file:
                found.append((name, b"xyzzy " + b"plugh" in file.read()))
print(found)
"""
    answer = "xyzzy plugh"
    test = {"expected_output": answer, "checker": lambda output, answer: (answer == "xyzzy plugh", "")}
    assert grade(jail, look, test).reward == 1.0
    hidden = {"expected_output": answer, "checker": lambda output: ("True" not in output and "main.py" in output, output)}
    assert seen(grade(jail, look, hidden)) == (Verdict.PASSED, "")
    # A judge in a jail has it, so the search does find what is there.
    there = {"expected_output": answer, "checker": {"program": look + "\nimport sys\nsys.exit(repr(found))"}}
    assert "('answer.txt', True)" in seen(grade(jail, "", there))[1]


def test_checkers_end_with_the_library(tmp_path: Path, policy: Policy) -> None:
    """One hangs and one is idle when the library's process is killed."""
    program = """
import os, signal, sys, time, jailpy
path = sys.argv[1]
def await_files(count):
    while len(os.listdir(path)) < count: time.sleep(0.01)
def meet(output):
    with open(f"{path}/{os.getpid()}", "w"): await_files(2)
    return True
def hang(output):
    with open(f"{path}/hangs", "w"): pass
    while True: pass
jail = jailpy.Jail(jailpy.Policy(allow_degraded=frozenset(sys.argv[2:])), warm=False, workers=2)
print(jail.grade("", [{"checker": meet}] * 2).reward, flush=True)
jail.submit("", [{"checker": hang, "checker_s": 2}])
await_files(3)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), *policy.allow_degraded],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert (done.stdout, done.returncode) == ("1.0\n", -signal.SIGKILL), done
    pids = [int(path.name) for path in tmp_path.iterdir() if path.name != "hangs"]
    assert len(pids) == 2
    for pid in pids:
        os.waitpid(pid, 0)  # orphans come to this process


# Interactors

GUESSING = """
import sys
secret = int(open(sys.argv[1]).read())
for _ in range(20):
    word = input()
    if not word.isdecimal():
        sys.exit(2)
    if int(word) == secret:
        print("right", flush=True)
        sys.exit(0)
    print("more" if int(word) < secret else "less", flush=True)
print("too many guesses", file=sys.stderr)
sys.exit(1)
"""
BISECTING = """
low, high = 1, 1_000_000
while True:
    guess = (low + high) // 2
    print(guess, flush=True)
    word = input()
    if word == "right":
        break
    low, high = (guess + 1, high) if word == "more" else (low, guess - 1)
"""


def talk(jail: Jail, program: str, interactor: str, **limits: float) -> tuple[Verdict, str]:
    return seen(grade(jail, program, {"interactor": interactor}, **limits))


@pytest.mark.parametrize("secret", [1, 500_000, 999_999])
def test_a_guessing_game(jail: Jail, secret: int) -> None:
    test = {"type": "interact", "interactor": {"program": GUESSING, "language": "python"}, "input": str(secret)}
    assert seen(grade(jail, BISECTING, test)) == (Verdict.PASSED, "")
    counting = "for guess in range(2, 1000):\n    print(guess, flush=True)\n    input()"
    assert seen(grade(jail, counting, test)) == (Verdict.WRONG_ANSWER, "wrong answer: too many guesses")
    assert seen(grade(jail, "print('please')", test)) == (Verdict.WRONG_ANSWER, "presentation error: nothing on stderr")


def test_many_games_at_once(jail: Jail) -> None:
    jobs = [
        {"code": BISECTING, "tests": [{"interactor": GUESSING, "input": str(7 * n + 1)}] * 2, "limits": PATIENT}
        for n in range(6)
    ]
    assert [made.reward for made in jail.grade_many(jobs)] == [1.0] * 6


WAITS = "input()"
FLOODS = "while True: print('x' * 1000)"


@pytest.mark.parametrize(
    ("program", "interactor", "verdict", "reason"),
    [
        # The program ends first.
        ("1 / 0", "input()", Verdict.RUNTIME_ERROR, "exit code 1: ZeroDivisionError: division by zero at main.py:1"),
        ("import os; os.abort()", "input()", Verdict.RUNTIME_ERROR, "killed by SIGABRT"),
        ("print(", "input()", Verdict.COMPILE_ERROR, "SyntaxError: '(' was never closed (main.py, line 1)"),
        ("pass", "input()", Verdict.WRONG_ANSWER, "the program ended in the middle of the talk"),
        ("pass", "import sys; sys.exit(not sys.stdin.read() == '')", Verdict.PASSED, ""),
        ("print('x', end='')", "import sys; sys.exit(not sys.stdin.read() == 'x')", Verdict.PASSED, ""),
        # The interactor ends first: with a wrong answer the program need not notice, else it reads the end.
        (WAITS, "import sys; sys.exit(1)", Verdict.WRONG_ANSWER, "wrong answer: nothing on stderr"),
        ("import time; time.sleep(1000)", "import sys; sys.exit('no')", Verdict.WRONG_ANSWER, "wrong answer: no"),
        ("while True: pass", "import sys; sys.exit('no')", Verdict.WRONG_ANSWER, "wrong answer: no"),
        (WAITS, "pass", Verdict.RUNTIME_ERROR, "exit code 1: EOFError: EOF when reading a line at main.py:1"),
        ("import sys; sys.stdin.read()", "pass", Verdict.PASSED, ""),
        # A crash over the news that the answer is wrong is no other verdict.
        ("int(input())", "import sys; print('no', flush=True); sys.exit('no')", Verdict.WRONG_ANSWER, "wrong answer: no"),
        # One that closes its stdout has said all that it will.
        ("import os; os.close(1); input()", "try: input()\nexcept EOFError: print(1)", Verdict.PASSED, ""),
        ("import os; os.close(0)", "print('x' * 1_000_000)", Verdict.PASSED, ""),
        # Nobody needs to read for the other to go on.
        ("print('x' * 1_000_000)", "pass", Verdict.PASSED, ""),
        ("print('x' * 1_000_000)", "import os; os.close(0)", Verdict.PASSED, ""),
        ("print(1, flush=True)", "print('x' * 1_000_000, flush=True); input()", Verdict.PASSED, ""),
        (
            "print('x' * 1_000_000, flush=True); assert input() == 'y' * 1_000_000",
            "print('y' * 1_000_000, flush=True); assert input() == 'x' * 1_000_000",
            Verdict.PASSED,
            "",
        ),
    ],
)
def test_how_a_talk_ends(jail: Jail, program: str, interactor: str, verdict: Verdict, reason: str) -> None:
    assert talk(jail, program, interactor) == (verdict, reason)


@pytest.mark.parametrize(
    ("program", "interactor", "reason"),
    [
        ("1 / 0", "input()", "exit code 1: ZeroDivisionError: division by zero at main.py:1"),
        ("int(input())", "import sys; print('no', flush=True); sys.exit('no')", "wrong answer: no"),
        ("import os; os.close(1); input()", "input()", "the program ended in the middle of the talk"),
        (WAITS, "int('x')", "the interactor raised ValueError"),
        ("print('x', flush=True); input()", "int(input())", "the interactor raised ValueError"),
    ],
)
def test_who_is_at_fault_is_not_left_to_chance(jail: Jail, program: str, interactor: str, reason: str) -> None:
    jobs = [{"code": program, "tests": [{"interactor": interactor}], "limits": PATIENT}] * 20
    said = {grade.error or grade.outcomes[0].reason for grade in jail.grade_many(jobs)}
    assert len(said) == 1
    assert reason in said.pop()


@pytest.mark.parametrize(
    ("program", "interactor", "verdict", "reason", "limits"),
    [
        (WAITS, WAITS, Verdict.TIME_LIMIT, "wall time limit", {"wall_s": 0.5}),
        ("import time; time.sleep(1000)", "pass", Verdict.TIME_LIMIT, "wall time limit", {"wall_s": 0.5}),
        (WAITS, "try: input()\nexcept EOFError: exit(1)", Verdict.TIME_LIMIT, "wall time limit", {"wall_s": 0.5}),
        ("while True: pass", WAITS, Verdict.TIME_LIMIT, "CPU time limit", {"cpu_s": 0.3}),
        (FLOODS, "while True: input()", Verdict.OUTPUT_LIMIT, "output limit", {"output_mb": 1}),
        (FLOODS, "import time; time.sleep(1)", Verdict.OUTPUT_LIMIT, "output limit", {"output_mb": 1}),
        ("held = b'x' * (500 << 20); input()", WAITS, Verdict.MEMORY_LIMIT, "memory limit", {"memory_mb": 100}),
    ],
)
def test_limits_of_the_program(
    jail: Jail, program: str, interactor: str, verdict: Verdict, reason: str, limits: dict[str, float]
) -> None:
    its = {"cpu_s": PATIENCE, "wall_s": PATIENCE, "memory_mb": 500}
    test = {"interactor": interactor, "interactor_limits": its}
    assert seen(grade(jail, program, test, **limits)) == (verdict, reason)


@pytest.mark.parametrize(
    ("interactor", "limits", "reason"),
    [
        ("import sys; sys.exit(3)", {}, "the interactor ended with exit code 3"),
        ("import sys; sys.exit(42)", {}, "the interactor ended with exit code 42"),
        ("int('x')", {}, "the interactor raised ValueError"),
        ("x x", {}, "the interactor raised SyntaxError"),
        ("import os; os.abort()", {}, "the interactor ended by killed by SIGABRT"),
        ("while True: pass", {"cpu_s": 0.3}, "the interactor ended by CPU time limit"),
        (FLOODS, {"output_mb": 1}, "the interactor ended by output limit"),
        ("held = b'x' * (500 << 20)", {"memory_mb": 100}, "the interactor ended by memory limit"),
    ],
)
@pytest.mark.parametrize("program", [WAITS, "import time; time.sleep(1000)"])
def test_an_interactor_that_fails_is_never_a_reward(
    jail: Jail, program: str, interactor: str, limits: dict[str, float], reason: str
) -> None:
    test = {"interactor": interactor, "interactor_limits": limits}
    no_verdict(jail, program, test, reason)
    (batch,) = jail.grade_many([{"code": program, "tests": [test], "limits": PATIENT}])
    assert (batch.reward, batch.verdict) == (None, Verdict.INTERNAL_ERROR)


def test_a_program_that_waits_for_an_interactor_that_hangs_is_not_at_fault(jail: Jail) -> None:
    test = {"interactor": "import time; time.sleep(1000)", "interactor_limits": {"wall_s": 0.3}}
    no_verdict(jail, WAITS, test, "the interactor kept the program waiting, and did not end", wall_s=0.5)


def test_an_interactors_wall_time_does_not_run_while_the_program_has_time(jail: Jail) -> None:
    test = {"interactor": "input()", "interactor_limits": {"wall_s": 0.2}}
    assert seen(grade(jail, "import time; time.sleep(1); print(1)", test)) == (Verdict.PASSED, "")


def test_bytes_cross_as_they_are(jail: Jail) -> None:
    interactor = """
import sys
data = bytes(range(256)) * 1000
sys.stdout.buffer.write(data)
sys.stdout.buffer.flush()
back = sys.stdin.buffer.read(len(data))
sys.exit(back != data[::-1])
"""
    program = """
import sys
sys.stdout.buffer.write(sys.stdin.buffer.read(256_000)[::-1])
"""
    assert talk(jail, program, interactor) == (Verdict.PASSED, "")
    assert talk(jail, program.replace("[::-1]", ""), interactor)[0] is Verdict.WRONG_ANSWER


def test_files_of_an_interactor(jail: Jail) -> None:
    interactor = """
import os, sys
assert [open(name).read() for name in (sys.argv[1], sys.argv[3])] == ["the input", "the answer"]
assert not os.path.exists(sys.argv[2]) and len(sys.argv) == 4
open(sys.argv[2], "w").write("mine")
names = input().split()
sys.exit(str(names) if names != ["main.py"] else 0)
"""
    test = {"interactor": interactor, "input": "the input", "answer": "the answer"}
    assert seen(grade(jail, "import os; print(*os.listdir())", test)) == (Verdict.PASSED, "")


def test_neither_sees_the_others_processes(jail: Jail) -> None:
    count = "len([name for name in __import__('os').listdir('/proc') if name.isdecimal()])"
    interactor = f"theirs = int(input())\nassert theirs == {count} < 5, theirs"
    assert talk(jail, f"print({count}, flush=True)", interactor) == (Verdict.PASSED, "")


@pytest.mark.parametrize("said", ["0", "passed", "exit 0", "\0"])
def test_what_a_program_says_is_not_the_interactors_word(jail: Jail, said: str) -> None:
    assert talk(jail, f"print({said!r})", "import sys; input(); sys.exit('no')") == (
        Verdict.WRONG_ANSWER,
        "wrong answer: no",
    )
