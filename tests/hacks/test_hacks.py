"""The pack of hostile programs (jailpy/hacks/pack): none passes in jailpy, and each fools a naive grader.

Here, too, hostile code runs in jails only: the naive graders run there together with what they judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from jailpy import Jail, Policy, Scoring, Verdict, hacks
from jailpy.hacks import Hack, measure, naive, problem

PACK = hacks.load()
ASSERTS = [suite for suite in problem.SUITES if problem.is_assert(suite)]
USED = sorted({pair for hack in PACK for pair in hack.fools if pair[0] != measure.IN_PROCESS})

each_hack = pytest.mark.parametrize("hack", PACK, ids=lambda hack: hack.name)


@pytest.fixture(scope="module")
def jail(policy: Policy) -> Iterator[Jail]:
    with Jail(policy) as opened:
        yield opened


@pytest.fixture(scope="module")
def naive_graders(policy: Policy) -> Iterator[measure.NaiveGraders]:
    with measure.NaiveGraders(policy) as graders:
        yield graders


def test_the_pack_is_large_and_covers_every_kind_of_forging() -> None:
    assert len(PACK) >= 60
    assert {row[0] for hack in PACK for row in hack.rows} == set("GHOR")
    covered = Counter(row for hack in PACK for row in hack.rows)
    assert {f"G{n}" for n in range(1, 19)} <= {*covered, "G16"}  # G16 needs a grader that runs the guest's binaries


def test_the_readme_says_how_many_there_are() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"pack of {len(PACK)} hostile programs" in readme
    assert f"0 of {len(PACK)} pass in jailpy; {len(PACK)} of {len(PACK)} fool a naive" in readme


@each_hack
def test_its_header_is_complete(hack: Hack) -> None:
    assert hack.what.endswith(".")
    assert hack.rows and all(re.fullmatch(r"[GHOR][0-9]{1,2}", row) for row in hack.rows)
    assert hack.fools
    for grader, suite in hack.fools:
        assert grader in {*naive.GRADERS, measure.IN_PROCESS}
        assert suite in problem.SUITES


def test_no_two_programs_are_the_same() -> None:
    bodies = Counter(hack.code.partition('"""\n')[2].strip() for hack in PACK)
    assert max(bodies.values()) == 1


@pytest.mark.parametrize("suite", problem.SUITES)
def test_jailpy_tells_right_from_wrong(jail: Jail, suite: str) -> None:
    tests = problem.SUITES[suite]
    right = jail.grade(problem.HONEST, tests, limits=measure.LIMITS)
    wrong = jail.grade(problem.WRONG, tests, limits=measure.LIMITS)
    assert (right.verdict, right.reward) == (Verdict.PASSED, 1.0), right.outcomes
    assert {outcome.verdict for outcome in wrong.outcomes} == {Verdict.WRONG_ANSWER}


@pytest.mark.parametrize("suite", ASSERTS)
def test_the_assert_suites_tell_right_from_wrong(jail: Jail, suite: str) -> None:
    tests = problem.SUITES[suite]
    right = jail.grade(problem.HONEST, tests, in_process=True)
    wrong = jail.grade(problem.WRONG, tests, in_process=True)
    assert (right.verdict, right.in_process) == (Verdict.PASSED, True), right.outcomes
    assert {outcome.verdict for outcome in wrong.outcomes} == {Verdict.WRONG_ANSWER}


@pytest.mark.parametrize(("grader", "suite"), USED)
def test_the_naive_graders_tell_right_from_wrong(
    naive_graders: measure.NaiveGraders, grader: str, suite: str
) -> None:
    assert naive_graders.can(grader)
    assert naive_graders.accepts(grader, problem.HONEST, problem.SUITES[suite])
    assert not naive_graders.accepts(grader, problem.WRONG, problem.SUITES[suite])


@each_hack
def test_it_passes_no_test_of_any_type(jail: Jail, hack: Hack) -> None:
    trials = list(measure.in_jailpy(jail, [hack]))
    assert {suite for _, suite, _ in trials} == {*problem.BASE, *hack.made_for}
    for _, suite, grade in trials:
        assert grade.error is None
        assert not grade.in_process
        assert Verdict.PASSED not in {outcome.verdict for outcome in grade.outcomes}, (suite, grade.outcomes)
        assert grade.verdict not in (Verdict.PASSED, Verdict.INTERNAL_ERROR, Verdict.SKIPPED)
        assert grade.reward is not None and grade.reward <= 0.0


@each_hack
def test_it_fools_the_naive_graders_that_it_names(naive_graders: measure.NaiveGraders, hack: Hack) -> None:
    for grader, suite in hack.fools:
        assert naive_graders.accepts(grader, hack.code, problem.SUITES[suite]), f"{grader}/{suite} is not fooled"


@pytest.mark.parametrize("name", ["equal_object", "forge_frame", "patch_abs"])
def test_beside_the_program_asserts_are_forged_and_the_grade_says_so(jail: Jail, name: str) -> None:
    (hack,) = hacks.load([name])
    suite = next(suite for suite in hack.made_for if problem.is_assert(suite))
    grade = jail.grade(hack.code, problem.SUITES[suite], in_process=True, scoring=Scoring.fraction())
    assert (grade.verdict, grade.in_process) == (Verdict.PASSED, True)
