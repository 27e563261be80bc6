"""The runs that a scoring's measurement is made of: which programs, on which tests, in which order.

In each round every test runs once with each program, one run after the other, so that what changes on the host meanwhile
meets all of them alike; every other round goes backwards. Each is a run of its own, in a jail of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from jailpy import programs
from jailpy.efficiency import FEWEST_SIZES, Cost, Efficiency, Growth, Measure, Reference
from jailpy.errors import UsageError
from jailpy.grading import Outcome
from jailpy.programs import Program
from jailpy.testcase import AssertTest, CallTest, StdioTest, Test
from jailpy.verdict import Verdict

#: Runs a program on a test, under the job's policy and limits, and judges it.
Run = Callable[[Test, Program], Outcome]


def check(wanted: Measure, tests: Sequence[Test]) -> None:
    """UsageError for tests that cannot be measured."""
    chosen = _chosen(wanted, tests)
    for index in chosen:
        if not isinstance(tests[index], (StdioTest, CallTest, AssertTest)):
            raise UsageError(f"tests[{index}]", "the cost of this type of test cannot be measured; give it weight 0")
    if isinstance(wanted, Growth) and len({tests[index].size for index in chosen}) < FEWEST_SIZES:
        raise UsageError("tests", f"growth needs at least {FEWEST_SIZES} tests of different size; give them a size")


def measure(
    wanted: Measure, tests: Sequence[Test], outcomes: Sequence[Outcome], code: Program, run: Run
) -> tuple[list[Outcome], Efficiency | None]:
    """The outcomes as they were, and the evidence. Or, where the program fails a test in one of these runs, that failure
    in place of the test's outcome and no evidence: who passes now and then has not passed. UsageError when the reference
    fails a test."""
    sources: dict[str, Program] = {"empty": b"", "candidate": code}
    if isinstance(wanted, Reference):
        sources["reference"] = programs.source(wanted.reference, "scoring.reference")
    turns = list(itertools.product(_chosen(wanted, tests), sources))
    seconds: dict[tuple[int, str], list[float]] = {turn: [] for turn in turns}
    for number in range(wanted.repeats):
        for index, who in turns if number % 2 == 0 else reversed(turns):
            test = tests[index]
            outcome = run(*_empty(test)) if who == "empty" else run(test, sources[who])
            if who == "reference" and outcome.verdict is not Verdict.PASSED:
                failure = f"{outcome.verdict.value}, {outcome.reason}"
                raise UsageError("scoring.reference", f"does not pass tests[{index}] under these limits: {failure}")
            if who == "candidate" and outcome.verdict is not Verdict.PASSED:
                return [*outcomes[:index], outcome, *outcomes[index + 1 :]], None
            seconds[index, who].append(outcome.cpu_s)
    costs = [
        Cost(
            tuple(seconds[index, "candidate"]),
            tuple(seconds[index, "empty"]),
            tuple(seconds.get((index, "reference"), ())),
            tests[index].size or 0.0,
        )
        for index in _chosen(wanted, tests)
    ]
    return list(outcomes), wanted.evidence(costs)


def _chosen(wanted: Measure, tests: Sequence[Test]) -> list[int]:
    """Tests that count and, for growth, have a size."""
    return [
        index
        for index, test in enumerate(tests)
        if test.weight > 0 and (test.size is not None or not isinstance(wanted, Growth))
    ]


def _empty(test: Test) -> tuple[Test, bytes]:
    """A program that does nothing, and the test that it is run by: what a jail of this kind of test costs by itself."""
    if isinstance(test, AssertTest):
        return replace(test, code="pass"), b""
    if not isinstance(test, CallTest):
        return test, b""
    owner, _, name = test.function.rpartition(".")
    stub = f"def {name}(*args, **kwargs): pass"
    return test, (f"class {owner}:\n {stub}" if owner else stub).encode()
