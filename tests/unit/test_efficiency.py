"""Evidence from CPU times whose truth is known."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from jailpy.efficiency import (
    BIAS,
    DRIFT,
    FLOOR_S,
    GROWTH,
    WIDEST,
    Cost,
    Efficiency,
    Growth,
    Reference,
    noise_floor,
    size_number,
    trimmed_interval,
)
from jailpy.errors import UsageError

EMPTY = 0.0006
#: CV of the CPU time of one program: a quiet host, and one that is busy.
NOISE = st.floats(0.0, 0.1)
CHANCE = st.integers(0, 2**32).map(random.Random)
#: Sizes that cost from 20 ms up when the smallest does.
SIZES = {
    "1": [10, 100, 1000, 10**4, 10**5, 10**6],
    "log n": [10, 100, 1000, 10**4, 10**5, 10**6],
    "n": [1000, 2000, 4000, 8000, 16000],
    "n log n": [1000, 2000, 4000, 8000, 16000],
    "n^2": [100, 150, 220, 330, 500],
    "n^3": [100, 130, 170, 220, 280],
    "2^n": [18, 19, 20, 21, 22, 23],
}


def runs(seconds: float, noise: float, chance: random.Random, repeats: int, empty: float = EMPTY) -> tuple[float, ...]:
    return tuple(empty + seconds * math.exp(chance.gauss(0, noise)) for _ in range(repeats))


def empties(chance: random.Random, repeats: int) -> tuple[float, ...]:
    return tuple(EMPTY * chance.uniform(0.6, 1.6) for _ in range(repeats))


def compared(
    mine: float, theirs: float, noise: float, chance: random.Random, repeats: int = 7, wild: int = 0
) -> Efficiency:
    """What is found of a program of `mine` seconds against one of `theirs`, when `wild` runs took 5 times as long."""
    candidate = list(runs(mine, noise, chance, repeats))
    for index in chance.sample(range(repeats), wild):
        candidate[index] *= 5
    cost = Cost(tuple(candidate), empties(chance, repeats), runs(theirs, noise, chance, repeats))
    return Reference("pass", repeats).evidence([cost])


def grown(
    cost_of: Callable[[float], float], sizes: list[int], expected: str, noise: float, chance: random.Random
) -> Efficiency:
    costs = [Cost(runs(cost_of(n), noise, chance, 5), empties(chance, 5), size=float(n)) for n in sizes]
    return Growth(expected).evidence(costs)


def of_class(name: str, smallest: float = 0.02) -> Callable[[float], float]:
    first = GROWTH[name](SIZES[name][0])
    return lambda n: smallest * math.exp(GROWTH[name](n) - first)


class TestInterval:
    def test_by_hand(self) -> None:
        centre, half = trimmed_interval([1.0, 2.0, 6.0])
        assert centre == 3.0
        assert half == pytest.approx(9.925 * statistics.stdev([1, 2, 6]) / math.sqrt(3))
        assert trimmed_interval([5.0, -1000.0, 5.0, 5.0, 1000.0]) == (5.0, 0.0)

    def test_it_covers_the_truth_as_often_as_it_says(self) -> None:
        for repeats in (3, 5, 7, 20):
            chance, hits = random.Random(repeats), 0
            for _ in range(2000):
                centre, half = trimmed_interval([chance.gauss(1, 3) for _ in range(repeats)])
                hits += abs(centre - 1) <= half
            assert 0.98 <= hits / 2000 <= 0.998

    @given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=50), st.floats(-10, 10))
    def test_it_moves_with_the_samples(self, samples: list[float], by: float) -> None:
        centre, half = trimmed_interval(samples)
        moved, same = trimmed_interval([sample + by for sample in samples])
        assert min(samples) - 1e-9 <= centre <= max(samples) + 1e-9
        assert moved == pytest.approx(centre + by, abs=1e-6)
        assert same == pytest.approx(half, abs=1e-6)


class TestRatio:
    @given(st.floats(0.02, 5.0), st.floats(0.2, 50.0), NOISE, CHANCE)
    def test_the_truth_is_near(self, theirs: float, ratio: float, noise: float, chance: random.Random) -> None:
        found = compared(theirs * ratio, theirs, noise, chance)
        assume(found.value is not None)
        assert found.low is not None
        assert found.high is not None
        assert found.value is not None
        assert found.low <= found.value <= found.high
        within = math.log(BIAS) + 5 * noise + (0.0 if theirs * ratio >= 0.05 else 0.3)
        assert abs(math.log(found.value / ratio)) <= within

    @given(CHANCE)
    def test_equal_cost_earns_all(self, chance: random.Random) -> None:
        found = compared(0.1, 0.1, 0.01, chance)
        assert found.low is not None
        assert found.high is not None
        assert found.low <= 1 <= found.high
        assert (found.signal, found.share, found.kind) == (True, 1.0, "ratio")

    @given(st.floats(1.5, 9.0), CHANCE)
    def test_a_slower_one_earns_less(self, ratio: float, chance: random.Random) -> None:
        found = compared(0.1 * ratio, 0.1, 0.01, chance)
        assert found.signal
        assert found.low is not None
        assert found.low > 1
        assert found.share == Reference("").share(found.low) < 1

    @given(st.integers(0, 1), CHANCE)
    def test_one_wild_run_decides_nothing(self, wild: int, chance: random.Random) -> None:
        found = compared(0.3, 0.1, 0.02, chance, wild=wild)
        assert found.signal
        assert found.low is not None
        assert found.high is not None
        assert 2 < found.low <= 3.3
        assert 2.7 < found.high < 4.5

    @given(st.floats(0, FLOOR_S * 0.9), st.floats(0, 10), CHANCE)
    def test_a_reference_that_costs_nothing_tells_nothing(
        self, theirs: float, mine: float, chance: random.Random
    ) -> None:
        found = compared(mine, theirs, 0.01, chance)
        assert (found.signal, found.value, found.share) == (False, None, None)
        assert found.reason.startswith("not enough signal: the reference takes less than")

    def test_a_candidate_that_costs_nothing_is_faster(self) -> None:
        found = compared(0.0, 1.0, 0.01, random.Random(1))
        assert (found.signal, found.share) == (True, 1.0)
        assert found.high is not None
        assert found.high < 0.02

    def test_an_interval_that_is_too_wide_tells_nothing(self) -> None:
        noisy = Cost((0.1, 0.5, 0.2, 0.9, 0.15, 0.3, 0.7), (EMPTY,) * 7, (0.1, 0.05, 0.3, 0.1, 0.2, 0.02, 0.1))
        found = Reference("").evidence([noisy])
        assert (found.signal, found.share) == (False, None)
        assert "too wide" in found.reason
        assert found.low is not None
        assert found.high is not None
        assert Reference("").share(found.low) - Reference("").share(found.high) > WIDEST

    def test_a_wide_interval_far_from_the_curve_decides(self) -> None:
        noisy = Cost((9.0, 4.0, 6.0, 8.0, 5.0, 7.0, 9.0), (EMPTY,) * 7, (0.1, 0.05, 0.07, 0.1, 0.06, 0.09, 0.1))
        found = Reference("").evidence([noisy])
        assert (found.signal, found.share) == (True, 0.0)

    def test_tests_are_summed(self) -> None:
        empty = (EMPTY,) * 3
        costs = [
            Cost((0.1 + EMPTY,) * 3, empty, (0.1 + EMPTY,) * 3),
            Cost((0.7 + EMPTY,) * 3, empty, (0.3 + EMPTY,) * 3),
        ]
        assert Reference("", repeats=3).evidence(costs).value == pytest.approx(2.0)

    def test_the_curve(self) -> None:
        curve = Reference("", worst=100).share
        assert [curve(ratio) for ratio in (0.01, 1.0, 100.0, 1e9)] == [1.0, 1.0, 0.0, 0.0]
        assert curve(10.0) == pytest.approx(0.5)

    @given(
        st.integers(3, 12).flatmap(
            lambda n: st.lists(st.tuples(*[st.floats(0, 1e6)] * 3), min_size=n, max_size=n)
        )
    )
    @example([(0.0, 0.0, 1e6), (1e6, 0.0, 0.01), (1e6, 0.0, 1e6)])
    def test_whatever_came_out_is_finite(self, rounds: list[tuple[float, float, float]]) -> None:
        found = Reference("").evidence([Cost(*(tuple(column) for column in zip(*rounds, strict=True)))])
        assert (found.share is not None) == found.signal
        for number in (found.value, found.low, found.high, found.share):
            assert number is None or math.isfinite(number)


class TestGrowth:
    @pytest.mark.parametrize("name", GROWTH)
    @given(noise=st.floats(0, 0.03), chance=CHANCE)
    def test_the_true_class_is_never_excluded(self, name: str, noise: float, chance: random.Random) -> None:
        found = grown(of_class(name), SIZES[name], name, noise, chance)
        assert name in found.classes
        assert found.share != 0.0

    @pytest.mark.parametrize(
        ("truth", "found"),
        [
            ("1", {"1", "log n"}),
            ("log n", {"1", "log n"}),
            ("n", {"n", "n log n"}),
            ("n log n", {"n", "n log n"}),
            ("n^2", {"n^2"}),
            ("n^3", {"n^3"}),
            ("2^n", {"2^n"}),
        ],
    )
    @given(chance=CHANCE)
    def test_what_is_far_from_the_truth_is_excluded(self, truth: str, found: set[str], chance: random.Random) -> None:
        assert set(grown(of_class(truth), SIZES[truth], truth, 0.01, chance).classes) <= found

    @given(chance=CHANCE)
    def test_the_reward_follows_what_was_expected(self, chance: random.Random) -> None:
        shares = {name: grown(of_class("n^2"), SIZES["n^2"], name, 0.01, chance).share for name in GROWTH}
        assert {name for name, share in shares.items() if share == 0.0} == {"1", "log n", "n", "n log n"}
        assert {name for name, share in shares.items() if share == 1.0} == {"n^2", "n^3", "2^n"}

    @given(st.floats(1.0, DRIFT * 0.9), CHANCE)
    def test_caches_make_no_other_class(self, drift: float, chance: random.Random) -> None:
        """Cost / n that drifts by less than DRIFT between the smallest and the largest size."""
        steps = math.log(drift) / math.log(16)
        found = grown(lambda n: 0.02 * (n / 1000) ** (1 + steps), SIZES["n"], "n", 0.001, chance)
        assert found.share == 1.0

    @given(CHANCE)
    def test_a_class_that_fits_badly_excuses_nothing(self, chance: random.Random) -> None:
        found = grown(of_class("log n"), SIZES["log n"], "2^n", 0.01, chance)
        assert set(found.classes) <= {"1", "log n"}
        assert found.share == 1.0

    @given(CHANCE)
    def test_between_classes_there_may_be_none(self, chance: random.Random) -> None:
        sizes = [10, 100, 1000, 10**4]
        found = grown(lambda n: 0.02 * (n / 10) ** 1.5, sizes, "n^2", 0.01, chance)
        assert (found.classes, found.signal, found.share) == ((), True, 1.0)
        assert found.value == pytest.approx(1.5, abs=0.05)
        assert "no class" in found.reason

    def test_flat_costs_that_are_noise_tell_nothing(self) -> None:
        found = grown(lambda n: 0.001, SIZES["1"], "1", 0.1, random.Random(1))
        assert (found.signal, found.share, found.value) == (False, None, None)
        assert found.reason == "not enough signal: 0 sizes cost more than noise, and fewer than 4 show no growth"

    def test_sizes_that_are_too_close_tell_nothing(self) -> None:
        found = grown(lambda n: 0.1, [1000, 1010, 1020, 1030], "1", 0.0, random.Random(1))
        assert not found.signal
        assert "differ by a factor of 1.03 only" in found.reason

    def test_scatter_tells_nothing(self) -> None:
        costs = [
            Cost((seconds,) * 5, (EMPTY,) * 5, size=float(n))
            for n, seconds in zip(SIZES["n"], (0.1, 1.0, 0.1, 1.0, 0.5), strict=True)
        ]
        found = Growth("n").evidence(costs)
        assert (found.signal, found.share) == (False, None)
        assert {"1", "n", "n^2"} <= set(found.classes)
        assert found.reason.startswith("not enough signal")

    @given(CHANCE)
    def test_wild_runs_decide_nothing(self, chance: random.Random) -> None:
        costs = []
        for n in SIZES["n^2"]:
            times = list(runs(of_class("n^2")(n), 0.01, chance, 5))
            times[chance.randrange(5)] *= 5
            costs.append(Cost(tuple(times), empties(chance, 5), size=float(n)))
        assert Growth("n").evidence(costs).share == 0.0
        assert Growth("n^2").evidence(costs).share == 1.0

    @given(
        st.lists(
            st.builds(
                Cost,
                st.tuples(*[st.floats(0, 1e6)] * 3),
                st.tuples(*[st.floats(0, 1e-2)] * 3),
                size=st.floats(2, 1e15),
            ),
            max_size=8,
        ),
        st.sampled_from(list(GROWTH)),
    )
    def test_whatever_came_out_is_finite(self, costs: list[Cost], expected: str) -> None:
        found = Growth(expected).evidence(costs)
        assert (found.share is not None) == found.signal
        for number in (found.value, found.low, found.high):
            assert number is None or math.isfinite(number)


def test_the_floor_follows_the_empty_runs() -> None:
    assert noise_floor((0.001, 0.001, 0.001)) == FLOOR_S
    assert noise_floor((0.001, 0.011, 0.011)) == pytest.approx(0.03)
    assert noise_floor((0.001, 0.001, 0.001, 0.001, 9.0)) == FLOOR_S


@pytest.mark.parametrize("size", [0, 1, -5, math.nan, math.inf, 1e16, True, "10", None])
def test_bad_sizes(size: object) -> None:
    with pytest.raises(UsageError) as caught:
        size_number("tests[0].size", size)
    assert caught.value.field == "tests[0].size"
