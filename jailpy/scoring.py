"""From verdicts to the reward: one finite number, or an error, never a number that stands for a failure of ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jailpy.errors import InfrastructureError, UsageError
from jailpy.verdict import Verdict

#: Verdicts that a table gives a number to.
SCORED: tuple[Verdict, ...] = tuple(verdict for verdict in Verdict if verdict is not Verdict.INTERNAL_ERROR)

#: Rewards beyond this could add up to infinity.
LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class Scoring:
    """How the verdicts of one program's tests become its reward. Make one with `seed`, `fraction`, `binary` or `table`.

    rewards   a number for every verdict but internal_error
    all_pass  False: the weighted average of the numbers; True: the number of `passed` when every test with a weight
              above 0 passed, else the lowest number among the verdicts of those tests
    """

    rewards: tuple[tuple[Verdict, float], ...]
    all_pass: bool = False

    def __post_init__(self) -> None:
        given = {verdict: _reward_number(verdict.value, reward) for verdict, reward in self.rewards}
        missing = [verdict.value for verdict in SCORED if verdict not in given]
        if missing or len(given) != len(SCORED) or len(self.rewards) != len(SCORED):
            raise UsageError("scoring.rewards", f"needs one number for each of {', '.join(v.value for v in SCORED)}")
        object.__setattr__(self, "rewards", tuple((verdict, given[verdict]) for verdict in SCORED))

    @classmethod
    def seed(cls) -> Scoring:
        """The default: passed 1, wrong_answer 0, time_limit -1, every other failure -2; weighted average."""
        return cls.table(passed=1.0, wrong_answer=0.0, time_limit=-1.0, other=-2.0)

    @classmethod
    def fraction(cls) -> Scoring:
        """The share of the tests, by weight, that passed."""
        return cls.table(passed=1.0, other=0.0)

    @classmethod
    def binary(cls) -> Scoring:
        """1.0 when every test with a weight above 0 passed, else 0.0."""
        return cls(cls.table(passed=1.0, other=0.0).rewards, all_pass=True)

    @classmethod
    def table(cls, *, other: float = 0.0, **rewards: float) -> Scoring:
        """An own table by the names of the verdicts; the names that are left out give `other`. Weighted average."""
        names = {verdict.value: verdict for verdict in SCORED}
        for name in rewards:
            if name == Verdict.INTERNAL_ERROR.value:
                raise UsageError(f"scoring.{name}", "a failed judging is raised and never a reward; leave it out")
            if name not in names:
                raise UsageError(f"scoring.{name}", f"is no verdict; choose from {', '.join(names)}")
        fallback = _reward_number("other", other)
        return cls(tuple((verdict, rewards.get(name, fallback)) for name, verdict in names.items()))

    def as_mapping(self) -> Mapping[Verdict, float]:
        """The table as a new dict."""
        return dict(self.rewards)

    def reward(self, verdicts: Sequence[Verdict], weights: Sequence[float] | None = None) -> float:
        """The reward of one program; `weights` are one a test, 1 each when left out. Always finite."""
        if not verdicts:
            raise UsageError("tests", "there are none; a reward needs at least one test")
        if Verdict.INTERNAL_ERROR in verdicts:
            raise InfrastructureError("a test could not be judged, so there is no reward")
        shares = _shares(len(verdicts), weights)
        table = dict(self.rewards)
        if self.all_pass:
            counted = {verdict for verdict, share in zip(verdicts, shares, strict=True) if share > 0}
            return min((table[verdict] for verdict in counted - {Verdict.PASSED}), default=table[Verdict.PASSED])
        total = math.fsum(table[verdict] * share for verdict, share in zip(verdicts, shares, strict=True))
        return total / math.fsum(shares)


def _shares(count: int, weights: Sequence[float] | None) -> list[float]:
    """Weights scaled so that the largest is 1: sums of huge or tiny ones stay finite and above 0."""
    if weights is None:
        return [1.0] * count
    if len(weights) != count:
        raise UsageError("weights", f"{len(weights)} for {count} tests; give one a test")
    checked = [weight_number(f"weights[{index}]", weight) for index, weight in enumerate(weights)]
    largest = max(checked)
    if largest == 0:
        raise UsageError("weights", "are all 0; give at least one test a weight above 0")
    return [weight / largest for weight in checked]


def weight_number(field: str, weight: object) -> float:
    """A weight as a float; UsageError when it is not finite or below 0."""
    number = _finite(field, weight)
    if number < 0:
        raise UsageError(field, f"{weight!r} is below 0")
    return number


def _reward_number(name: str, reward: object) -> float:
    number = _finite(f"scoring.{name}", reward)
    if abs(number) > LARGEST:
        raise UsageError(f"scoring.{name}", f"{reward!r} is beyond {LARGEST:g}")
    return number


def _finite(field: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(field, f"a {type(value).__name__} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UsageError(field, "is not a finite number")
    return number
