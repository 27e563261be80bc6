"""Verdicts to rewards."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jailpy.errors import InfrastructureError, UsageError
from jailpy.scoring import SCORED, Scoring
from jailpy.verdict import Verdict

P, W, T, S = Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT, Verdict.SKIPPED
ALL = [Scoring.seed(), Scoring.fraction(), Scoring.binary(), Scoring.table(passed=3, time_limit=-0.5, other=-7)]


def test_seed_table() -> None:
    scoring = Scoring.seed()
    expected = {verdict: -2.0 for verdict in SCORED} | {P: 1.0, W: 0.0, T: -1.0}
    for verdict in SCORED:
        assert scoring.reward([verdict]) == expected[verdict]
    assert scoring.as_mapping() == expected
    assert scoring.reward([P, W, T, Verdict.MEMORY_LIMIT]) == -0.5
    assert scoring.reward([P, S]) == -0.5
    assert scoring.reward([P, W], [3, 1]) == 0.75


def test_fraction_and_binary() -> None:
    assert Scoring.fraction().reward([P, W, T, S]) == 0.25
    assert Scoring.fraction().reward([P, W], [0, 5]) == 0.0
    assert Scoring.binary().reward([P, P]) == 1.0
    assert Scoring.binary().reward([P] * 99 + [S]) == 0.0
    assert Scoring.binary().reward([P, W], [1, 0]) == 1.0


def test_own_tables() -> None:
    scoring = Scoring.table(passed=2, compile_error=-3)
    assert scoring.reward([Verdict.COMPILE_ERROR]) == -3
    assert scoring.reward([P, W]) == 1
    assert Scoring(scoring.rewards[::-1]) == scoring
    worst = Scoring(Scoring.table(passed=-5, other=1, time_limit=0).rewards, all_pass=True)
    assert [worst.reward([P]), worst.reward([P, W]), worst.reward([P, W, T])] == [-5, 1, 0]


@pytest.mark.parametrize(
    ("rewards", "field"),
    [
        ({"pased": 1}, "scoring.pased"),
        ({"internal_error": 0}, "scoring.internal_error"),
        ({"passed": math.nan}, "scoring.passed"),
        ({"passed": math.inf}, "scoring.passed"),
        ({"passed": 1e200}, "scoring.passed"),
        ({"passed": 10**400}, "scoring.passed"),
        ({"passed": True}, "scoring.passed"),
        ({"passed": "1"}, "scoring.passed"),
        ({"other": math.nan}, "scoring.other"),
    ],
)
def test_bad_tables(rewards: dict[str, float], field: str) -> None:
    with pytest.raises(UsageError) as caught:
        Scoring.table(**rewards)
    assert caught.value.field == field


def test_incomplete_tables() -> None:
    for rewards in ((), ((P, 1.0),), (*Scoring.seed().rewards, (P, 1.0))):
        with pytest.raises(UsageError):
            Scoring(rewards)


@pytest.mark.parametrize("scoring", ALL)
def test_no_reward_without_judgement(scoring: Scoring) -> None:
    with pytest.raises(InfrastructureError):
        scoring.reward([P, Verdict.INTERNAL_ERROR])
    with pytest.raises(UsageError):
        scoring.reward([])
    for weights in ([1], [1, -1], [0, 0], [1, math.nan], [1, math.inf], [1, True], [1, 10**400]):
        with pytest.raises(UsageError, match="weights"):
            scoring.reward([P, W], weights)


@pytest.mark.parametrize("scoring", ALL)
def test_hashable_and_picklable(scoring: Scoring) -> None:
    copy = pickle.loads(pickle.dumps(scoring))
    assert copy == scoring
    assert hash(copy) == hash(scoring)


@given(st.lists(st.tuples(st.sampled_from(SCORED), st.floats(0, allow_infinity=False)), min_size=1, max_size=20))
def test_rewards_are_finite_and_within_the_table(pairs: list[tuple[Verdict, float]]) -> None:
    verdicts, weights = [v for v, _ in pairs], [w for _, w in pairs]
    if not any(weights):
        return
    for scoring in ALL:
        numbers = [number for _, number in scoring.rewards]
        assert min(numbers) - 1e-9 <= scoring.reward(verdicts, weights) <= max(numbers) + 1e-9
    assert Scoring.seed().reward([P] * len(weights), weights) == 1.0


def test_every_verdict_is_named_by_its_value() -> None:
    assert {verdict.name.lower() for verdict in Verdict} == {verdict.value for verdict in Verdict}
