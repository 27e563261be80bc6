"""From verdicts to the reward: one finite number, or an error, never a number that stands for a failure of ours.

1. Each test has a weight, 1 unless given, and may have a group, a label. Tests of weight 0 decide nothing.
2. A test gets the number that the table has for its verdict. Tests of one group get one number together: that of
   `passed` when all of them passed, else the lowest among the verdicts of those that did not. A group's cap bounds it.
3. The reward is the average of these numbers, by weight; or, with `all_pass`, what one group of all the tests would get.
4. Where a scoring measures cost, and all passed: see `Scoring.efficiency` and `Scoring.growth`.
5. Last, `floor` and `cap` bound the reward.

So the order of tests and the scale of weights change nothing, and where no verdict is worth more than `passed`, a pass in
place of a failure never lowers the reward. A skipped test is not passed.
"""

from __future__ import annotations

import math
from collections.abc import ItemsView, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypedDict, Unpack

from jailpy.efficiency import Efficiency, Growth, Measure, Reference
from jailpy.errors import InfrastructureError, UsageError
from jailpy.verdict import Verdict

#: Verdicts that a table gives a number to.
SCORED: tuple[Verdict, ...] = tuple(verdict for verdict in Verdict if verdict is not Verdict.INTERNAL_ERROR)

#: Rewards beyond this could add up to infinity.
LARGEST = 1e100


class Bounds(TypedDict, total=False):
    """Options that every way to make a Scoring takes; see there."""

    groups: bool
    group_caps: Mapping[str | int, float] | tuple[tuple[str, float], ...]
    floor: float
    cap: float


@dataclass(frozen=True, slots=True)
class Scoring:
    """How the verdicts of one program's tests become its reward, by the rules of this module. Make one with `seed`,
    `fraction`, `binary`, `table`, `efficiency` or `growth`.

    rewards     a number for every verdict but internal_error
    all_pass    all tests count as one group, whatever their labels
    groups      False: labels of groups are ignored
    group_caps  label of a group to the highest number that it may get
    floor, cap  bounds of the reward
    measure     what is measured of a program that passed; needs all_pass
    """

    rewards: tuple[tuple[Verdict, float], ...]
    all_pass: bool = False
    groups: bool = True
    group_caps: Mapping[str | int, float] | tuple[tuple[str, float], ...] = ()
    floor: float = -LARGEST
    cap: float = LARGEST
    measure: Measure | None = None

    def __post_init__(self) -> None:
        given = {verdict: _reward_number(verdict.value, reward) for verdict, reward in self.rewards}
        missing = [verdict.value for verdict in SCORED if verdict not in given]
        if missing or len(given) != len(SCORED) or len(self.rewards) != len(SCORED):
            raise UsageError("scoring.rewards", f"needs one number for each of {', '.join(v.value for v in SCORED)}")
        object.__setattr__(self, "rewards", tuple((verdict, given[verdict]) for verdict in SCORED))
        for name in ("all_pass", "groups"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"scoring.{name}", "must be true or false")
        object.__setattr__(self, "group_caps", _group_caps(self.group_caps))
        for name in ("floor", "cap"):
            object.__setattr__(self, name, _reward_number(name, getattr(self, name)))
        if self.floor > self.cap:
            raise UsageError("scoring.floor", f"{self.floor:g} is above the cap, {self.cap:g}")
        if self.measure is not None:
            self._check_measure(self.measure)

    def _check_measure(self, measure: Measure) -> None:
        if not isinstance(measure, (Reference, Growth)):
            raise UsageError("scoring.measure", f"a {type(measure).__name__} measures nothing")
        if not self.all_pass:
            raise UsageError("scoring.all_pass", "must be true where cost is measured: a slow pass is still a pass")
        table = dict(self.rewards)
        highest = max(number for verdict, number in self.rewards if verdict is not Verdict.PASSED)
        if table[Verdict.PASSED] * measure.least < highest:
            raise UsageError("scoring.least", "a pass at the highest cost would earn less than a failure; raise it")

    @classmethod
    def seed(cls, **bounds: Unpack[Bounds]) -> Scoring:
        """The default: passed 1, wrong_answer 0, time_limit -1, every other failure -2; weighted average."""
        return cls(_table(-2.0, {"passed": 1.0, "wrong_answer": 0.0, "time_limit": -1.0}), **bounds)

    @classmethod
    def fraction(cls, **bounds: Unpack[Bounds]) -> Scoring:
        """The share of the tests, by weight, that passed."""
        return cls(_table(0.0, {"passed": 1.0}), **bounds)

    @classmethod
    def binary(cls, **bounds: Unpack[Bounds]) -> Scoring:
        """1.0 when every test with a weight above 0 passed, else 0.0."""
        return cls(_table(0.0, {"passed": 1.0}), all_pass=True, **bounds)

    @classmethod
    def table(
        cls,
        *,
        other: float = 0.0,
        groups: bool = True,
        group_caps: Mapping[str | int, float] | tuple[tuple[str, float], ...] = (),
        floor: float = -LARGEST,
        cap: float = LARGEST,
        **rewards: float,
    ) -> Scoring:
        """An own table by the names of the verdicts; the names that are left out give `other`. Weighted average."""
        return cls(_table(other, rewards), groups=groups, group_caps=group_caps, floor=floor, cap=cap)

    @classmethod
    def efficiency(
        cls,
        reference: str | bytes,
        *,
        repeats: int = 7,
        worst: float = 10.0,
        least: float = 0.5,
        **bounds: Unpack[Bounds],
    ) -> Scoring:
        """0 unless every test passed; then `least + (1 - least) * share`, the share from the ratio of CPU time to that
        of a reference solution (see `jailpy.efficiency.Reference`). 1 where there is not enough signal.

        The reference runs under the same policy and limits, in turn with the candidate, `repeats` times each; one that
        fails a test is a UsageError."""
        return cls(
            _table(0.0, {"passed": 1.0}), all_pass=True, measure=Reference(reference, repeats, worst, least), **bounds
        )

    @classmethod
    def growth(
        cls, expected: str, *, repeats: int = 7, least: float = 0.5, **bounds: Unpack[Bounds]
    ) -> Scoring:
        """0 unless every test passed; then 1 when CPU time grows with the tests' `size` at most as `expected`, one of
        "1", "log n", "n", "n log n", "n^2", "n^3" and "2^n", and `least` when it grows faster (see
        `jailpy.efficiency.Growth`). 1 where there is not enough signal."""
        return cls(_table(0.0, {"passed": 1.0}), all_pass=True, measure=Growth(expected, repeats, least), **bounds)

    def as_mapping(self) -> Mapping[Verdict, float]:
        """The table as a new dict."""
        return dict(self.rewards)

    def to_measure(self, verdicts: Sequence[Verdict], weights: Sequence[float] | None = None) -> Measure | None:
        """What is to be measured before `reward` can tell: nothing unless every test with a weight passed."""
        counted = _counted(verdicts, _shares(len(verdicts), weights))
        return self.measure if counted == {Verdict.PASSED} else None

    def reward(
        self,
        verdicts: Sequence[Verdict],
        weights: Sequence[float] | None = None,
        groups: Sequence[str | None] | None = None,
        efficiency: Efficiency | None = None,
    ) -> float:
        """The reward of one program. Always finite.

        weights     one a test; 1 each when left out
        groups      one label a test, None for a test that stands alone
        efficiency  what was measured, where `to_measure` asks for it
        """
        if not verdicts:
            raise UsageError("tests", "there are none; a reward needs at least one test")
        if Verdict.INTERNAL_ERROR in verdicts:
            raise InfrastructureError("a test could not be judged, so there is no reward")
        shares = _shares(len(verdicts), weights)
        if self.all_pass:
            number = self._together(_counted(verdicts, shares)) * self._factor(verdicts, weights, efficiency)
        else:
            numbers = self._numbers(verdicts, shares, groups)
            total = math.fsum(number * share for number, share in zip(numbers, shares, strict=True))
            number = total / math.fsum(shares)
        return min(max(number, self.floor), self.cap)

    def _factor(
        self, verdicts: Sequence[Verdict], weights: Sequence[float] | None, efficiency: Efficiency | None
    ) -> float:
        measure = self.to_measure(verdicts, weights)
        if measure is None:
            return 1.0
        if efficiency is None:
            raise UsageError("efficiency", "this scoring measures cost, and nothing was measured")
        return 1.0 if efficiency.share is None else measure.least + (1.0 - measure.least) * efficiency.share

    def _numbers(
        self, verdicts: Sequence[Verdict], shares: Sequence[float], groups: Sequence[str | None] | None
    ) -> list[float]:
        """One a test."""
        table = dict(self.rewards)
        if groups is None or not self.groups:
            return [table[verdict] for verdict in verdicts]
        if len(groups) != len(verdicts):
            raise UsageError("groups", f"{len(groups)} for {len(verdicts)} tests; give one a test, or None")
        members: dict[str, set[Verdict]] = {}
        for verdict, share, group in zip(verdicts, shares, groups, strict=True):
            if group is not None and share > 0:
                members.setdefault(group, set()).add(verdict)
        caps = dict(self.group_caps)
        together = {group: min(self._together(found), caps.get(group, LARGEST)) for group, found in members.items()}
        return [
            table[verdict] if group is None else together.get(group, 0.0)
            for verdict, group in zip(verdicts, groups, strict=True)
        ]

    def _together(self, verdicts: Set[Verdict]) -> float:
        """All or nothing."""
        table = dict(self.rewards)
        return min((table[verdict] for verdict in verdicts - {Verdict.PASSED}), default=table[Verdict.PASSED])


def group_label(field: str, label: object) -> str | None:
    """A test's group as a text: 1 and "1" name the same one, as keys of JSON do. UsageError for what is no label."""
    if label is None or (isinstance(label, str) and label):
        return label
    if isinstance(label, int) and not isinstance(label, bool):
        return str(label)
    raise UsageError(field, f"{label!r} is no label; give a text that is not empty, or a whole number")


def _table(other: float, rewards: Mapping[str, float]) -> tuple[tuple[Verdict, float], ...]:
    names = {verdict.value: verdict for verdict in SCORED}
    for name in rewards:
        if name == Verdict.INTERNAL_ERROR.value:
            raise UsageError(f"scoring.{name}", "a failed judging is raised and never a reward; leave it out")
        if name not in names:
            raise UsageError(f"scoring.{name}", f"is no verdict; choose from {', '.join(names)}")
    fallback = _reward_number("other", other)
    return tuple((verdict, rewards.get(name, fallback)) for name, verdict in names.items())


def _group_caps(given: object) -> tuple[tuple[str, float], ...]:
    pairs = given.items() if isinstance(given, Mapping) else given
    if not isinstance(pairs, (tuple, ItemsView)) or not all(isinstance(pair, tuple) for pair in pairs):
        raise UsageError("scoring.group_caps", "must be a mapping of groups' labels to numbers")
    caps: dict[str, float] = {}
    for label, cap in pairs:
        name = group_label("scoring.group_caps", label)
        if name is None or name in caps:
            raise UsageError("scoring.group_caps", f"{label!r} is no label, or is there twice")
        caps[name] = _reward_number(f"group_caps[{name!r}]", cap)
    return tuple(sorted(caps.items()))


def _counted(verdicts: Sequence[Verdict], shares: Sequence[float]) -> Set[Verdict]:
    return {verdict for verdict, share in zip(verdicts, shares, strict=True) if share > 0}


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
