"""Verdicts to rewards."""

from __future__ import annotations

import dataclasses
import math
import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jailpy.efficiency import Efficiency
from jailpy.errors import InfrastructureError, UsageError
from jailpy.scoring import SCORED, Scoring
from jailpy.verdict import Verdict

P, W, T, S = Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT, Verdict.SKIPPED
ALL = [
    Scoring.seed(),
    Scoring.fraction(),
    Scoring.binary(),
    Scoring.table(passed=3, time_limit=-0.5, other=-7),
    Scoring.fraction(group_caps={"a": 0.5}, floor=-1, cap=2),
]


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


numbers = st.floats(-1e6, 1e6)
tables = st.fixed_dictionaries({verdict.value: numbers for verdict in SCORED if verdict is not P})
labels = st.sampled_from([None, None, "a", "b", "c"])
rows = st.lists(
    st.tuples(st.sampled_from(SCORED), st.floats(1e-3, 1e3) | st.just(0.0), labels), min_size=1, max_size=12
).filter(lambda found: any(weight for _, weight, _ in found))
Row = tuple[Verdict, float, str | None]


@st.composite
def scorings(draw: st.DrawFn) -> Scoring:
    """Any of those by which nothing is worth more than a pass."""
    rewards = draw(tables)
    rewards["passed"] = max(rewards.values()) + draw(st.floats(0, 100))
    floor, cap = sorted((draw(numbers), draw(numbers)))
    return dataclasses.replace(
        Scoring.table(**rewards, floor=floor, cap=cap),
        all_pass=draw(st.booleans()),
        groups=draw(st.booleans()),
        group_caps=draw(st.dictionaries(st.sampled_from("ab"), numbers)),
    )


def of(scoring: Scoring, found: list[Row]) -> float:
    return scoring.reward(*(list(column) for column in zip(*found, strict=True)))  # type: ignore[arg-type]


@given(scorings(), rows)
def test_rewards_are_finite_and_bounded(scoring: Scoring, found: list[Row]) -> None:
    assert scoring.floor <= of(scoring, found) <= scoring.cap


@given(scorings(), rows, st.data())
def test_a_pass_in_place_of_a_failure_never_lowers_the_reward(
    scoring: Scoring, found: list[Row], data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(found) - 1))
    better = [*found[:index], (P, *found[index][1:]), *found[index + 1 :]]
    assert of(scoring, better) >= of(scoring, found) - 1e-6


@given(scorings(), rows, st.randoms(use_true_random=False))
def test_the_order_of_tests_changes_nothing(scoring: Scoring, found: list[Row], chance: random.Random) -> None:
    mixed = found[:]
    chance.shuffle(mixed)
    assert of(scoring, mixed) == of(scoring, found)


@given(scorings(), rows, st.floats(1e-250, 1e250))
def test_the_scale_of_weights_changes_nothing(scoring: Scoring, found: list[Row], scale: float) -> None:
    scaled = [(verdict, weight * scale, group) for verdict, weight, group in found]
    assert of(scoring, scaled) == pytest.approx(of(scoring, found), rel=1e-9, abs=1e-6)


@given(rows)
def test_a_group_counts_whole_or_not_at_all(found: list[Row]) -> None:
    passed = {group: True for _, _, group in found if group is not None}
    for verdict, weight, group in found:
        if group is not None and weight > 0 and verdict is not P:
            passed[group] = False
    earned = [w for v, w, group in found if (v is P if group is None else passed[group])]
    expected = math.fsum(earned) / math.fsum(w for _, w, _ in found)
    assert of(Scoring.fraction(), found) == pytest.approx(expected)
    alone = math.fsum(w for v, w, _ in found if v is P) / math.fsum(w for _, w, _ in found)
    assert of(Scoring.fraction(groups=False), found) == pytest.approx(alone)


def test_groups() -> None:
    assert Scoring.fraction().reward([P, W, P], [1, 2, 1], ["a", "a", None]) == 0.25
    assert Scoring.fraction().reward([P, P, P], [1, 2, 1], ["a", "a", None]) == 1.0
    assert Scoring.seed().reward([P, W, T, P], None, ["a", "a", "a", None]) == -0.5  # its worst failure, three times
    assert Scoring.fraction().reward([P, W], [1, 0], ["a", "a"]) == 1.0
    assert Scoring.fraction().reward([P, S], None, ["a", "a"]) == 0.0
    assert Scoring.binary().reward([P, W], None, ["a", "b"]) == 0.0
    with pytest.raises(UsageError) as caught:
        Scoring.fraction().reward([P, W], None, ["a"])
    assert caught.value.field == "groups"


def test_caps() -> None:
    capped = Scoring.fraction(group_caps={1: 0.5})
    assert capped.reward([P, P], None, ["1", None]) == 0.75
    assert capped.reward([W, P], None, ["1", None]) == 0.5
    assert Scoring.seed(floor=-1, cap=0.5).reward([P]) == 0.5
    assert Scoring.seed(floor=-1, cap=0.5).reward([Verdict.MEMORY_LIMIT]) == -1
    assert Scoring.fraction(group_caps={1: 0.5}) == Scoring.fraction(group_caps=(("1", 0.5),))


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"floor": 1, "cap": 0}, "scoring.floor"),
        ({"floor": math.nan}, "scoring.floor"),
        ({"cap": math.inf}, "scoring.cap"),
        ({"groups": 1}, "scoring.groups"),
        ({"group_caps": {"a": math.nan}}, "scoring.group_caps['a']"),
        ({"group_caps": {None: 1}}, "scoring.group_caps"),
        ({"group_caps": {1: 1, "1": 1}}, "scoring.group_caps"),
        ({"group_caps": [1]}, "scoring.group_caps"),
    ],
)
def test_bad_bounds(options: dict[str, Any], field: str) -> None:
    for make in (Scoring.seed, Scoring.fraction, Scoring.binary, Scoring.table):
        with pytest.raises(UsageError) as caught:
            make(**options)
        assert caught.value.field == field


SLOW = Efficiency("ratio", 8.0, 7.0, 9.0, True, 0.25, (), "")


def test_cost_counts_when_all_passed() -> None:
    scoring = Scoring.efficiency("pass", least=0.5)
    assert scoring.reward([P, P], efficiency=SLOW) == 0.625
    assert scoring.reward([P, P], efficiency=dataclasses.replace(SLOW, signal=False, share=None)) == 1.0
    assert scoring.reward([P, W]) == 0.0
    assert scoring.reward([P, W], [1, 0], efficiency=SLOW) == 0.625
    assert scoring.to_measure([P, W], [1, 0]) is scoring.measure
    assert scoring.to_measure([P, W]) is None
    assert Scoring.binary().to_measure([P]) is None
    with pytest.raises(UsageError, match="nothing was measured"):
        scoring.reward([P])


def test_a_slow_pass_is_worth_a_failure_at_least() -> None:
    measure = Scoring.growth("n", least=0.25).measure
    scoring = dataclasses.replace(Scoring.binary(), measure=measure)
    assert scoring.reward([P], efficiency=dataclasses.replace(SLOW, share=0.0)) == 0.25
    for change in ({"all_pass": False}, {"rewards": Scoring.table(passed=1, other=0.5).rewards}, {"measure": "n"}):
        with pytest.raises(UsageError):
            dataclasses.replace(scoring, **change)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Scoring.efficiency(None), "scoring.reference"),  # type: ignore[arg-type]
        (lambda: Scoring.efficiency("", repeats=2), "scoring.repeats"),
        (lambda: Scoring.efficiency("", repeats=True), "scoring.repeats"),
        (lambda: Scoring.efficiency("", repeats=101), "scoring.repeats"),
        (lambda: Scoring.efficiency("", worst=1), "scoring.worst"),
        (lambda: Scoring.efficiency("", worst=math.nan), "scoring.worst"),
        (lambda: Scoring.efficiency("", least=1.5), "scoring.least"),
        (lambda: Scoring.growth("n^4"), "scoring.expected"),
        (lambda: Scoring.growth(["n"]), "scoring.expected"),  # type: ignore[arg-type]
        (lambda: Scoring.growth("n", least=-1), "scoring.least"),
    ],
)
def test_bad_measures(make: Callable[[], Scoring], field: str) -> None:
    with pytest.raises(UsageError) as caught:
        make()
    assert caught.value.field == field
