"""Which runs a measurement is made of, with runs that are made up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jailpy import Outcome, Status, UsageError, Verdict
from jailpy.efficiency import Growth, Reference
from jailpy.measuring import check, measure
from jailpy.testcase import CallTest, StdioTest, Test

PASSED = Outcome(Verdict.PASSED, "", Status.EXITED, 0.1, 0.1, 1)
WRONG = replace(PASSED, verdict=Verdict.WRONG_ANSWER, reason="1 is not 2")
TESTS = (StdioTest(b"a", b"b"), StdioTest(b"c", b"d", weight=0.0), CallTest("f", (1,), {}, 2))
BEFORE = [PASSED, WRONG, PASSED]
SECONDS = {b"mine": 0.2, b"theirs": 0.1}


class Runs:
    """Programs take their time; the one named fails from its run of that number on."""

    def __init__(self, failing: bytes = b"", at: int = 0) -> None:
        self.seen: list[tuple[Test, bytes]] = []
        self.failing, self.at = failing, at

    def __call__(self, test: Test, code: bytes) -> Outcome:
        self.seen.append((test, code))
        count = sum(seen == code for _, seen in self.seen)
        found = WRONG if code == self.failing and count >= self.at else PASSED
        return replace(found, cpu_s=SECONDS.get(code, 0.001))


def test_every_test_that_counts_runs_in_every_round_by_turns() -> None:
    runs = Runs()
    outcomes, found = measure(Reference("theirs", repeats=3), TESTS, BEFORE, b"mine", runs)
    stub = b"def f(*args, **kwargs): pass"
    once = [(test, code) for test, empty in ((TESTS[0], b""), (TESTS[2], stub)) for code in (empty, b"mine", b"theirs")]
    assert runs.seen == once + once[::-1] + once
    assert outcomes == BEFORE
    assert found is not None
    assert found.value == pytest.approx(0.398 / 0.198)


def test_growth_runs_tests_with_a_size() -> None:
    sized = tuple(replace(TESTS[0], size=float(n)) for n in (10, 20, 30, 40))
    runs = Runs()
    _, found = measure(Growth("n", repeats=3), (*sized, TESTS[2]), [PASSED] * 5, b"mine", runs)
    assert {test for test, _ in runs.seen} == set(sized)
    assert len(runs.seen) == 4 * 3 * 2
    assert found is not None
    assert found.share == 1.0


@pytest.mark.parametrize("at", [1, 4])
def test_who_fails_while_measured_has_failed(at: int) -> None:
    outcomes, found = measure(Reference("theirs", repeats=3), TESTS, BEFORE, b"mine", Runs(b"mine", at))
    assert found is None
    assert [outcome.verdict for outcome in outcomes].count(Verdict.WRONG_ANSWER) == 2


def test_a_reference_that_fails_is_no_measure() -> None:
    with pytest.raises(UsageError) as caught:
        measure(Reference("theirs"), TESTS, BEFORE, b"mine", Runs(b"theirs", 3))
    assert caught.value.field == "scoring.reference"
    assert "wrong_answer, 1 is not 2" in caught.value.problem


def test_growth_needs_sizes() -> None:
    sized = [replace(TESTS[0], size=float(n)) for n in (10, 20, 30, 40)]
    check(Growth("n"), sized)
    check(Reference(""), TESTS)
    for tests in (TESTS, sized[:3], [*sized[:3], sized[0]], [*sized[:3], replace(sized[3], weight=0.0)]):
        with pytest.raises(UsageError, match="at least 4"):
            check(Growth("n"), tests)
