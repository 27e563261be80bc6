"""The public calls, from the caller's side."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from jails import open_jail

import jailpy
from jailpy import (
    Grade,
    InfrastructureError,
    Jail,
    Job,
    LayerMissing,
    Limits,
    Policy,
    Scoring,
    Status,
    UsageError,
    Verdict,
)
from jailpy.kernel import launch, probe

ADD = "print(sum(map(int, input().split())))"
TESTS = [{"input": "1 2\n", "expected_output": "3\n"}, {"input": "4 5\n", "expected_output": "9\n"}]
WIDE = Limits(cpu_s=50, wall_s=100)


class TestModule:
    def test_execute_code(self, module_calls: Policy) -> None:
        reward = jailpy.execute_code(ADD, TESTS, policy=module_calls)
        assert (type(reward), reward) == (float, 1.0)

    def test_grade(self, module_calls: Policy) -> None:
        grade = jailpy.grade(ADD, TESTS, policy=module_calls, limits=WIDE)
        assert (grade.reward, grade.verdict, grade.error, grade.in_process) == (1.0, Verdict.PASSED, None, False)
        assert [outcome.verdict for outcome in grade.outcomes] == [Verdict.PASSED] * 2
        assert [outcome.status for outcome in grade.outcomes] == [Status.EXITED] * 2
        assert all(outcome.wall_s > 0 and outcome.memory_peak > 0 for outcome in grade.outcomes)
        assert set(grade.enforced) == set(jailpy.LAYERS)
        assert Grade.from_json(grade.to_json()) == grade

    def test_run(self, module_calls: Policy) -> None:
        result = jailpy.run("print(input())", "hello", policy=module_calls)
        assert (result.status, result.stdout, result.ok) == (Status.EXITED, b"hello\n", True)

    def test_submit(self, module_calls: Policy) -> None:
        future = jailpy.submit(ADD, TESTS, policy=module_calls)
        assert isinstance(future, concurrent.futures.Future)
        assert future.result(timeout=100).reward == 1.0

    def test_grade_many(self, module_calls: Policy) -> None:
        grades = jailpy.grade_many([Job(ADD, TESTS, id=1), {"code": "x", "tests": TESTS, "id": 2}], policy=module_calls)
        assert {grade.id: grade.verdict for grade in grades} == {1: Verdict.PASSED, 2: Verdict.RUNTIME_ERROR}

    def test_execute_many(self, module_calls: Policy) -> None:
        assert jailpy.execute_many([ADD, "print(3)"], TESTS, policy=module_calls) == [1.0, 0.5]

    def test_a_missing_layer_says_what_to_do(self) -> None:
        lack = probe.host().missing.get("memory_cgroup")
        if lack is None:
            pytest.skip("the control groups of this host are whole")
        with Jail(Policy()) as jail, pytest.raises(LayerMissing) as caught:
            jail.run("print(1)")
        assert caught.value.layer in probe.host().missing
        text = str(caught.value)
        assert caught.value.why in text
        assert caught.value.fix in text
        assert f"Policy(allow_degraded={{{caught.value.layer!r}}})" in text


class TestVerdicts:
    @pytest.mark.parametrize(
        ("code", "verdict", "reward"),
        [
            (ADD, Verdict.PASSED, 1.0),
            ("print(0)", Verdict.WRONG_ANSWER, 0.0),
            ("1 / 0", Verdict.RUNTIME_ERROR, -2.0),
            ("def f(:", Verdict.COMPILE_ERROR, -2.0),
            ("print('a\0b')", Verdict.COMPILE_ERROR, -2.0),
            ("\0", Verdict.COMPILE_ERROR, -2.0),
            ("x = '\ud800'", Verdict.COMPILE_ERROR, -2.0),
            (b"\xff\xfe", Verdict.COMPILE_ERROR, -2.0),
            ("(" * 1000 + ")" * 1000, Verdict.COMPILE_ERROR, -2.0),
            ("import sys; sys.exit(3)", Verdict.RUNTIME_ERROR, -2.0),
            ("import os; os._exit(0)", Verdict.WRONG_ANSWER, 0.0),
            ("raise SystemExit", Verdict.WRONG_ANSWER, 0.0),
            ("", Verdict.WRONG_ANSWER, 0.0),
        ],
        ids=[
            *("right", "wrong", "raises", "syntax", "nul", "only nul", "surrogate", "no text", "deep"),
            *("exit", "_exit", "quit", "empty"),
        ],
    )
    def test_of_a_program(self, jail: Jail, code: str | bytes, verdict: Verdict, reward: float) -> None:
        grade = jail.grade(code, TESTS[:1], limits=WIDE)
        assert (grade.verdict, grade.reward) == (verdict, reward)

    @pytest.mark.parametrize(
        ("code", "limits", "verdict"),
        [
            ("while True: pass", Limits(cpu_s=0.5, wall_s=100), Verdict.TIME_LIMIT),
            ("import time; time.sleep(60)", Limits(wall_s=1), Verdict.TIME_LIMIT),
            ("x = b'x' * (1 << 30)", Limits(memory_mb=128, wall_s=100), Verdict.MEMORY_LIMIT),
            ("while True: print('x' * 1000)", Limits(output_mb=1, wall_s=100, cpu_s=50), Verdict.OUTPUT_LIMIT),
        ],
        ids=["cpu", "wall", "memory", "output"],
    )
    def test_of_a_limit(self, jail: Jail, code: str, limits: Limits, verdict: Verdict) -> None:
        assert jail.grade(code, TESTS[:1], limits=limits).verdict is verdict

    def test_300_kb_of_code(self, jail: Jail) -> None:
        code = "x = 0\n" * 50_000 + ADD
        assert len(code) > 300_000
        assert jail.grade(code, TESTS[:1], limits=WIDE).verdict is Verdict.PASSED

    def test_a_call(self, jail: Jail) -> None:
        code = "def add(a, b=0):\n    return a + b\n"
        tests = [
            {"function": "add", "args": [1, 2], "expected": 3},
            {"function": "add", "args": ["a"], "kwargs": {"b": "b"}, "expected": "ab"},
            {"function": "add", "args": [1, "2"], "expected": 3},
            {"function": "missing", "args": [], "expected": 3},
        ]
        verdicts = [outcome.verdict for outcome in jail.grade(code, tests, limits=WIDE).outcomes]
        assert verdicts == [Verdict.PASSED, Verdict.PASSED, Verdict.RUNTIME_ERROR, Verdict.RUNTIME_ERROR]

    def test_asserts_beside_the_program(self, jail: Jail) -> None:
        code = "def add(a, b):\n    return a + b\n"
        asserts = ["assert add(1, 2) == 3", "assert add(1, 2) == 4"]
        grade = jail.grade(code, asserts, in_process=True, limits=WIDE)
        assert [outcome.verdict for outcome in grade.outcomes] == [Verdict.PASSED, Verdict.WRONG_ANSWER]
        assert grade.in_process is True

    def test_no_test_sees_another(self, jail: Jail) -> None:
        code = "import os\nprint(os.path.exists('/tmp/seen'), os.path.exists('seen'))\n"
        code += "open('/tmp/seen', 'w')\nopen('seen', 'w')\n"
        tests = [{"input": "", "expected_output": "False False\n"}] * 4
        assert jail.grade(code, tests, limits=WIDE).verdict is Verdict.PASSED

    def test_expected_values_are_not_in_the_jail(self, jail: Jail) -> None:
        # The guest looks through all of its memory for what only the test knows, and fails where it finds it. The
        # pattern is written so that it does not match itself.
        code = r"""
import re
def look(*given):
    wanted = re.compile(rb"marker[-]that[-]only[-]a[-]test[-]knows")
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in list(maps):
            span, mode = line.split()[:2]
            first, last = (int(part, 16) for part in span.split("-"))
            if mode.startswith("r") and "[v" not in line:
                memory.seek(first)
                assert not wanted.search(memory.read(last - first) or b"")
    return "nothing"
"""
        marker = "marker-that-only-a-test-knows"
        tests = [
            {"function": "look", "args": [], "expected": marker},
            {"function": "look", "args": [marker], "expected": marker},  # the control
        ]
        outcomes = jail.grade(code, tests, limits=WIDE).outcomes
        assert outcomes[0].verdict is Verdict.WRONG_ANSWER
        assert outcomes[1].verdict is Verdict.RUNTIME_ERROR
        assert outcomes[1].reason.startswith("AssertionError")

    def test_scoring(self, jail: Jail) -> None:
        grade = jail.grade("print(3)", TESTS, limits=WIDE, scoring=Scoring.binary())
        assert grade.reward == 0.0
        grade = jail.grade("print(3)", TESTS, limits=WIDE, scoring=Scoring.table(passed=10, other=2))
        assert grade.reward == 6.0

    def test_stop_early(self, jail: Jail) -> None:
        tests = [{"input": "", "expected_output": text} for text in ("1\n", "2\n", "1\n")]
        grade = jail.grade("print(1)", tests, limits=WIDE, stop_early=True)
        assert [outcome.verdict for outcome in grade.outcomes] == [
            Verdict.PASSED,
            Verdict.WRONG_ANSWER,
            Verdict.SKIPPED,
        ]


class TestWrongArguments:
    @pytest.mark.parametrize(
        ("tests", "field"),
        [
            ([], "tests"),
            (None, "tests"),
            ("not json", "tests"),
            ([{"input": "x"}], "tests[0]"),
            ([TESTS[0], {"input": 3, "expected_output": "x"}], "tests[1]"),
            ([{"function": "f", "args": [], "expected": object()}], "tests[0]"),
            ([" "], "tests[0]"),
            ([{"type": "nonsense"}], "tests[0]"),
        ],
        ids=["empty", "none", "no json", "half", "no text", "no value", "no assert", "type"],
    )
    def test_tests(self, jail: Jail, tests: Any, field: str) -> None:
        for call in (jail.grade, jail.execute_code, jail.submit):
            with pytest.raises(UsageError) as caught:
                call(ADD, tests)
            assert caught.value.field.startswith(field)
        with pytest.raises(UsageError):
            list(jail.grade_many([Job(ADD, tests)]))

    @pytest.mark.parametrize("code", [None, 3, ["print()"], bytearray(b"x")], ids=repr)
    def test_code(self, jail: Jail, code: Any) -> None:
        for call in (lambda: jail.grade(code, TESTS), lambda: jail.run(code)):
            with pytest.raises(UsageError) as caught:
                call()
            assert caught.value.field == "code"

    def test_language(self, jail: Jail) -> None:
        for call in (lambda: jail.grade("x", TESTS, language="cobol"), lambda: jail.run("x", language="cobol")):
            with pytest.raises(UsageError, match="language: 'cobol' is not supported"):
                call()

    @pytest.mark.parametrize("workers", [0, -1, True, 1.5, "2"])
    def test_workers(self, policy: Policy, workers: Any) -> None:
        with pytest.raises(UsageError, match="workers"):
            Jail(policy, workers=workers)

    def test_a_job_with_an_unknown_field(self, jail: Jail) -> None:
        with pytest.raises(UsageError, match=r"jobs\[1\]"):
            list(jail.grade_many([{"code": ADD, "tests": TESTS}, {"code": ADD, "test": TESTS}]))

    def test_stdin_that_is_no_text(self, jail: Jail) -> None:
        with pytest.raises(UsageError, match="stdin"):
            jail.run("print(1)", 3)  # type: ignore[arg-type]

    def test_stdin_with_a_lone_surrogate(self, jail: Jail) -> None:
        # os.fsdecode makes U+DC80 to U+DCFF of bytes that are no UTF-8; these go back to bytes, others are no input.
        assert jail.run("import sys; print(sys.stdin.buffer.read())", "\udcff", limits=WIDE).stdout == b"b'\\xff'\n"
        with pytest.raises(UsageError, match="stdin"):
            jail.run("print(1)", "\ud800")


class TestFiles:
    def test_are_given(self, jail: Jail) -> None:
        files = {"data.txt": "text", "deep/er/raw": b"\0\xff", "main2.py": "x = 7"}
        code = "import main2\nprint(open('data.txt').read(), open('deep/er/raw', 'rb').read(), main2.x)"
        assert jail.run(code, files=files, limits=WIDE).stdout == b"text b'\\x00\\xff' 7\n"

    def test_are_the_guests_to_change(self, jail: Jail) -> None:
        code = "import os\nopen('data', 'a').write('!')\nprint(open('data').read())\n"
        code += "os.remove('sub/other')\nos.rmdir('sub')\n"
        assert jail.run(code, files={"data": "x", "sub/other": "y"}, limits=WIDE).stdout == b"x!\n"

    def test_no_guest_can_be_handed_a_program_with_a_users_rights(self, jail: Jail) -> None:
        code = "import os\nprint(oct(os.stat('data').st_mode & 0o7777))"
        printed = int(jail.run(code, files={"data": "x"}, limits=WIDE).stdout, 8)
        assert not printed & (stat.S_ISUID | stat.S_ISGID)

    @pytest.mark.parametrize(
        "name", ["", "/etc/passwd", "../up", "a/../b", "a//b", "a/", "./a", ".", "..", "a\0b", "/"], ids=repr
    )
    def test_hostile_names(self, jail: Jail, name: str) -> None:
        with pytest.raises(UsageError) as caught:
            jail.run("print(1)", files={name: "x"})
        assert caught.value.field.startswith("files[")

    @pytest.mark.parametrize(
        "files",
        [
            *({"main.py": "x"}, {"a": "x", "a/b": "y"}, {"a/b": "y", "a": "x"}, {"x" * 300: "y"}),
            *({"\ud800": "x"}, {3: "x"}, {"a": 3}),
        ],
        ids=["the program's own", "file and folder", "folder and file", "too long", "surrogate", "no name", "no content"],
    )
    def test_names_that_cannot_be(self, jail: Jail, files: Any) -> None:
        with pytest.raises(UsageError):
            jail.run("print(1)", files=files)

    def test_more_than_fits(self, jail: Jail) -> None:
        with pytest.raises(UsageError, match="disk_mb"):
            jail.run("print(1)", files={"big": bytes(3 << 20)}, limits=Limits(disk_mb=2))

    def test_many(self, jail: Jail) -> None:
        files = {f"folder{number % 7}/file{number}": str(number) for number in range(500)}
        code = "import os\nprint(sum(len(names) for _, _, names in os.walk('.')))"
        assert int(jail.run(code, files=files, limits=WIDE).stdout) in (500, 501)


class TestMany:
    def test_in_order(self, jail: Jail) -> None:
        jobs = [Job(f"print({number})", [{"input": "", "expected_output": "4\n"}], id=number) for number in range(12)]
        grades = list(jail.grade_many(jobs, ordered=True))
        assert [grade.id for grade in grades] == list(range(12))
        assert [grade.reward for grade in grades] == [float(number == 4) for number in range(12)]

    def test_as_they_finish(self, jail: Jail) -> None:
        slow, quick = "import time; time.sleep(3)", "print(1)"
        jobs = [Job(slow, TESTS[:1], limits=WIDE, id="slow"), Job(quick, TESTS[:1], limits=WIDE, id="quick")]
        assert [grade.id for grade in jail.grade_many(jobs)] == ["quick", "slow"]

    def test_endless_jobs(self, jail: Jail) -> None:
        jobs = (Job("print(3)", TESTS[:1], limits=WIDE, id=number) for number in itertools.count())
        grades = list(itertools.islice(jail.grade_many(jobs, ordered=True), 5))
        assert [grade.id for grade in grades] == list(range(5))

    def test_each_against_its_own_tests(self, jail: Jail) -> None:
        tests = [[{"input": "", "expected_output": "1\n"}], [{"input": "", "expected_output": "2\n"}]]
        assert jail.execute_many(["print(1)", "print(1)"], tests, limits=WIDE) == [1.0, 0.0]
        with pytest.raises(UsageError, match="2 sets of tests for 1 programs"):
            jail.execute_many(["print(1)"], tests)

    def test_no_jobs(self, jail: Jail) -> None:
        assert list(jail.grade_many([])) == []
        assert jail.execute_many([], TESTS) == []


class TestInfrastructureFailures:
    """With no helper to start nothing can be judged; nowhere does that become a number."""

    @pytest.fixture
    def broken(self, way: str, policy: Policy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
        monkeypatch.setattr(launch, "HELPER", tmp_path / "jailpy-init")
        with open_jail(way, policy) as jail:
            yield jail

    def test_single_calls_raise(self, broken: Jail) -> None:
        for call in (broken.grade, broken.execute_code, lambda code, _: broken.run(code)):
            with pytest.raises(InfrastructureError, match="is missing or not executable"):
                call(ADD, TESTS)

    def test_futures_raise(self, broken: Jail) -> None:
        with pytest.raises(InfrastructureError):
            broken.submit(ADD, TESTS).result(timeout=100)

    def test_batches_say_why(self, broken: Jail) -> None:
        grades = list(broken.grade_many([Job(ADD, TESTS, id=1), Job(ADD, TESTS, id=2)]))
        assert {grade.id for grade in grades} == {1, 2}
        for grade in grades:
            assert (grade.reward, grade.verdict, grade.outcomes) == (None, Verdict.INTERNAL_ERROR, ())
            assert grade.error is not None
            assert "is missing or not executable" in grade.error

    def test_rewards_are_none(self, broken: Jail) -> None:
        assert broken.execute_many([ADD, ADD], TESTS) == [None, None]

    def test_a_helper_that_is_no_program(
        self, way: str, policy: Policy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        helper = tmp_path / "jailpy-init"
        helper.write_bytes(b"nothing")
        helper.chmod(0o755)
        monkeypatch.setattr(launch, "HELPER", helper)
        with open_jail(way, policy) as jail, pytest.raises(InfrastructureError):
            jail.run("print(1)")

    def test_a_helper_that_ends_at_once(self, way: str, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(launch, "HELPER", Path("/bin/true"))
        with open_jail(way, policy) as jail:
            with pytest.raises(InfrastructureError):
                jail.run("print(1)")
            assert jail.execute_many([ADD], TESTS) == [None]


class TestOutOfDescriptors:
    def test_is_no_reward_and_no_crash(self, policy: Policy) -> None:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with open_jail("cold", policy) as jail:
            assert jail.run("print(1)", limits=WIDE).ok
            used = len(os.listdir("/proc/self/fd"))
            for room in range(0, 14, 2):
                resource.setrlimit(resource.RLIMIT_NOFILE, (used + room, hard))
                try:
                    rewards = jail.execute_many([ADD], TESTS[:1])
                finally:
                    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                assert rewards in ([None], [1.0])


class TestJail:
    def test_close_waits(self, way: str, policy: Policy) -> None:
        with open_jail(way, policy) as jail:
            future = jail.submit("import time; time.sleep(1); print(3)", TESTS[:1], limits=WIDE)
            while not future.running() and jail.statistics()["running"] == 0:
                pass
        assert future.done()
        assert future.result().verdict is Verdict.PASSED

    def test_closed_is_closed(self, way: str, policy: Policy) -> None:
        with open_jail(way, policy) as jail:
            pass
        with pytest.raises(RuntimeError, match="closed"):
            jail.run("print(1)")
        jail.close()

    def test_asyncio(self, jail: Jail) -> None:
        async def both() -> list[Grade]:
            return await asyncio.gather(*(asyncio.wrap_future(jail.submit(ADD, TESTS, limits=WIDE)) for _ in range(2)))

        assert [grade.reward for grade in asyncio.run(both())] == [1.0, 1.0]

    def test_limits_of_the_jail_and_of_the_call(self, policy: Policy) -> None:
        with Jail(policy, Limits(wall_s=1), warm=False) as jail:
            code = "import time; time.sleep(2.5); print(3)"
            assert jail.grade(code, TESTS[:1]).verdict is Verdict.TIME_LIMIT
            assert jail.grade(code, TESTS[:1], limits=WIDE).verdict is Verdict.PASSED

    def test_another_interpreter(self, policy: Policy) -> None:
        if not os.access("/usr/bin/python3", os.X_OK):
            pytest.skip("no Python in /usr/bin")
        own = Policy(allow_degraded=policy.allow_degraded, python="/usr/bin/python3")
        with Jail(own) as jail:
            printed = jail.run("import sys; print(sys.prefix)", limits=WIDE)
            assert printed.stdout == b"/usr\n"

    def test_an_interpreter_that_is_none(self, policy: Policy) -> None:
        own = Policy(allow_degraded=policy.allow_degraded, python="/bin/true")
        with pytest.raises(InfrastructureError, match=r"policy\.python"), Jail(own) as jail:
            jail.run("print(1)")


class TestAnswers:
    ANSWER = f"<think>draft</think>\nSo:\n```python\n{ADD}\n```\n"

    def test_the_program_is_taken_from_the_answer(self, jail: Jail) -> None:
        assert jail.execute_code(self.ANSWER, TESTS, extract=True, limits=WIDE) == 1.0
        assert jail.grade(self.ANSWER, TESTS, limits=WIDE).verdict is Verdict.COMPILE_ERROR  # the control
        assert jail.submit(self.ANSWER, TESTS, extract=True, limits=WIDE).result().verdict is Verdict.PASSED

    def test_an_answer_without_code_fails_and_is_no_error(self, jail: Jail) -> None:
        nothing = [{"input": "", "expected_output": ""}, {"input": "1", "expected_output": ""}]
        assert jail.grade("", nothing, limits=WIDE).verdict is Verdict.PASSED  # the control: an empty program is one
        for tests in (nothing, nothing[:1]):
            grade = jail.grade("<think>hm", tests, extract=True, scoring=Scoring.fraction())
            assert {outcome.verdict for outcome in grade.outcomes} == {Verdict.COMPILE_ERROR}
            assert (grade.reward, grade.outcomes[0].reason) == (0.0, "the answer holds no code")
        assert jail.execute_many([self.ANSWER, "<think>hm"], TESTS, extract=True, limits=WIDE) == [1.0, -2.0]

    def test_a_rule_of_the_callers_own(self, jail: Jail) -> None:
        def behind_the_arrow(answer: str) -> str:
            return answer.split("->")[1]

        assert jail.execute_code(f"x ->{ADD}", TESTS, extract=behind_the_arrow, limits=WIDE) == 1.0
        with pytest.raises(IndexError):
            jail.execute_code("x", TESTS, extract=behind_the_arrow)
        with pytest.raises(UsageError, match="extract"):
            jail.execute_code("x", TESTS, extract="behind")


class TestReasons:
    """The line about a failing test, from real runs."""

    @pytest.mark.parametrize(
        ("code", "test", "line"),
        [
            ("print(1, 2, 4)", {"expected_output": "1 2 3"}, r"line 1, column 5: got '1 2 4', expected '1 2 3'"),
            (
                "def f(x):\n    return 1 // x\nf(0)",
                {"expected_output": ""},
                r"exit code 1: ZeroDivisionError: .* by zero at main\.py:2 in f",
            ),
            ("import os\nos.abort()", {"expected_output": ""}, r"killed by SIGABRT"),
            ("x = (", {"expected_output": ""}, r"SyntaxError: '\(' was never closed \(main\.py, line 1\)"),
            ("while True: pass", {"expected_output": ""}, r"CPU time limit of 1 s \([0-9.]+ s used\)"),
            ("def f(x): return [1, {'a': x}]", {"expected": [1, {"a": 2}]}, r"value\[1\]\['a'\]: got 1, expected 2"),
            ("def f(x): return (y for y in [x])", {"expected": [1]}, r"value: got generator object, expected list \[1\]"),
            ("def f(x):\n    raise KeyError(x)", {"expected": 1}, r"KeyError: 1 at solution\.py:2 in f"),
            ("import sys\nsys.exit(3)", {"expected": 1}, r"SystemExit: 3 at solution\.py:2"),
            ("import os\nos._exit(0)", {"expected": 1}, r"ended without an answer: exit code 0: nothing on stderr"),
        ],
    )
    def test_of_a_run(self, jail: Jail, code: str, test: dict[str, Any], line: str) -> None:
        call = {"function": "f", "args": [1]} if "expected" in test else {}
        grade = jail.grade(code, [{**call, **test}], limits=Limits(cpu_s=1, wall_s=100))
        assert re.fullmatch(line, grade.outcomes[0].reason), grade.outcomes[0].reason

    @pytest.mark.parametrize("in_process", [False, True])
    def test_of_an_assert(self, jail: Jail, in_process: bool) -> None:
        tests = ["\nassert f(1) == 2\nassert f(2) == 4", "assert f(1) == 3, 'three'", "f(0)"]
        grade = jail.grade("def f(x):\n    return x + 2 // x - 1", tests, in_process=in_process, limits=WIDE)
        reasons = [outcome.reason for outcome in grade.outcomes]
        assert reasons[0] == "AssertionError in line 3 of the test: assert f(2) == 4"
        assert reasons[1] == "AssertionError: three in line 1 of the test"
        assert re.match("ZeroDivisionError: .* by zero (at main.py:2 in f|in line 1 of the test)", reasons[2]), reasons[2]


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("x = bytearray(1 << 60)", {"input": "", "expected_output": ""}),
        ("def f(): return bytearray(1 << 60)", {"function": "f", "args": [], "expected": 1}),
        ("def f(): return bytearray(1 << 60)", "assert f() == 1"),
    ],
    ids=["stdio", "call", "assert"],
)
def test_memory_that_no_host_has_is_the_memory_limit(jail: Jail, code: str, test: Any) -> None:
    """What a host refuses at once, a larger one grants until the limit ends the program."""
    assert jail.grade(code, [test], limits=WIDE).verdict is Verdict.MEMORY_LIMIT
