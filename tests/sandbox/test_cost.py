"""What is measured of real programs in real jails. Asserted are ratios, classes and signals, never times."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jailpy import Efficiency, Grade, Jail, Limits, Scoring, UsageError, Verdict, measuring
from jailpy.testcase import AssertTest, CallTest, StdioTest, Test

WIDE = Limits(cpu_s=50, wall_s=100)
BUILTIN = """
def order(lists):
    return [sum(sorted((i * 7919 + seed) % 101 for i in range(100))[::10]) for seed in range(lists)]
"""
INSERTION = """
def order(lists):
    return [sum(insertion((i * 7919 + seed) % 101 for i in range(100))[::10]) for seed in range(lists)]

def insertion(items):
    done = []
    for item in items:
        at = len(done)
        done.append(item)
        while at and done[at - 1] > item:
            done[at] = done[at - 1]
            at -= 1
        done[at] = item
    return done
"""
LINEAR = "def count(n):\n    total = 0\n    for i in range(n):\n        total += i & 1\n    return total"
QUADRATIC = "def count(n):\n    return sum(sum(1 for j in range(n) if j == i) for i in range(n)) // 2"


def order_test(lists: int) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(BUILTIN, names)
    return {"function": "order", "args": [lists], "expected": names["order"](lists)}


def count_tests(*sizes: int) -> list[dict[str, Any]]:
    return [{"function": "count", "args": [n], "expected": n // 2, "size": n} for n in sizes]


def measured(grade: Grade) -> Efficiency:
    assert grade.verdict is Verdict.PASSED
    assert grade.efficiency is not None
    assert Grade.from_json(grade.to_json()) == grade
    return grade.efficiency


#: What a jail costs that is made from nothing is too much and too uneven beside programs as short as these.
warm_only = pytest.mark.parametrize("way", ["warm"], indirect=True)


@pytest.mark.slow
@warm_only
class TestRatio:
    def test_a_quadratic_sort_against_the_builtin_one(self, jail: Jail) -> None:
        tests = [order_test(1000), order_test(2000)]
        grade = jail.grade(INSERTION, tests, scoring=Scoring.efficiency(BUILTIN), limits=WIDE)
        found = measured(grade)
        assert found.signal, found.reason
        assert found.low is not None
        assert found.low > 3
        assert grade.reward is not None
        assert 0.5 <= grade.reward < 0.8
        assert json.loads(grade.to_json())["efficiency"]["kind"] == "ratio"

    def test_equal_programs_are_not_told_apart(self, jail: Jail) -> None:
        found = measured(jail.grade(LINEAR, count_tests(10**6), scoring=Scoring.efficiency(LINEAR), limits=WIDE))
        assert found.low is not None
        assert found.high is not None
        assert found.low < 1.1
        assert found.high > 0.9

    def test_a_trivial_program_gives_no_signal(self, jail: Jail) -> None:
        test = {"input": "", "expected_output": "1"}
        grade = jail.grade("print(1)", [test], scoring=Scoring.efficiency("print(1)"), limits=WIDE)
        found = measured(grade)
        assert (found.signal, found.share, grade.reward) == (False, None, 1.0)
        assert found.reason.startswith("not enough signal")

    def test_a_failure_is_not_measured(self, jail: Jail) -> None:
        grade = jail.grade("def order(n): return []", [order_test(5)], scoring=Scoring.efficiency(BUILTIN), limits=WIDE)
        assert (grade.reward, grade.verdict, grade.efficiency) == (0.0, Verdict.WRONG_ANSWER, None)

    def test_a_reference_that_fails_is_the_callers_mistake(self, jail: Jail) -> None:
        with pytest.raises(UsageError) as caught:
            jail.grade(LINEAR, count_tests(10), scoring=Scoring.efficiency("def count(n): return 1"), limits=WIDE)
        assert caught.value.field == "scoring.reference"
        assert "tests[0]" in caught.value.problem
        assert "wrong_answer" in caught.value.problem

    def test_in_batches(self, jail: Jail) -> None:
        jobs = [
            {"code": code, "tests": count_tests(500_000), "scoring": Scoring.efficiency(LINEAR), "limits": WIDE}
            for code in (LINEAR, "def count(n): return n // 2", "def count(n): return 0")
        ]
        found = [grade.efficiency for grade in jail.grade_many(jobs, ordered=True)]
        assert found[0] is not None
        assert found[1] is not None
        assert found[1].share == 1.0
        assert found[1].high is not None
        assert found[1].high < 0.8
        assert found[2] is None


@pytest.mark.slow
@warm_only
class TestGrowth:
    SIZES = (300_000, 450_000, 700_000, 1_000_000, 1_600_000, 2_500_000, 4_000_000)
    FEWER = (600, 760, 950, 1200, 1500, 1900, 2400)

    def test_linear(self, jail: Jail) -> None:
        grade = jail.grade(LINEAR, count_tests(*self.SIZES), scoring=Scoring.growth("n^2", repeats=9), limits=WIDE)
        found = measured(grade)
        assert "n" in found.classes
        assert not {"1", "n^2", "n^3"} & set(found.classes)
        assert (found.signal, grade.reward) == (True, 1.0)

    def test_quadratic(self, jail: Jail) -> None:
        grade = jail.grade(QUADRATIC, count_tests(*self.FEWER), scoring=Scoring.growth("n", repeats=9), limits=WIDE)
        found = measured(grade)
        assert "n^2" in found.classes
        assert not {"1", "log n", "n"} & set(found.classes)
        assert (found.signal, grade.reward) == (True, 0.5)

    def test_a_trivial_program_gives_no_signal(self, jail: Jail) -> None:
        tests = count_tests(*self.SIZES)
        grade = jail.grade("def count(n): return n // 2", tests, scoring=Scoring.growth("1"), limits=WIDE)
        found = measured(grade)
        assert (found.signal, grade.reward) == (False, 1.0)

    def test_sizes_are_needed(self, jail: Jail) -> None:
        with pytest.raises(UsageError, match="at least 4 tests of different size"):
            jail.grade(LINEAR, count_tests(10, 20, 30, 30), scoring=Scoring.growth("n"))


def test_a_scoring_is_no_name(jail: Jail) -> None:
    with pytest.raises(UsageError) as caught:
        jail.grade(LINEAR, count_tests(10), scoring="growth")
    assert caught.value.field == "scoring"


@pytest.mark.parametrize(
    "test",
    [
        StdioTest(b"input that nobody reads", b""),
        CallTest("f", (1,), {"key": 2}, None),
        CallTest("Solution.f", (1,), {"key": 2}, None),
        AssertTest("assert f(1) == 2", in_process=True),
    ],
    ids=["stdio", "function", "method", "assert"],
)
def test_the_empty_program_does_its_nothing_without_an_error(jail: Jail, test: Test) -> None:
    changed, code = measuring._empty(test)
    assert jail.grade(code, [changed]).verdict is Verdict.PASSED
