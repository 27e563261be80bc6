"""CPU times to evidence: how a program's cost compares with a reference's, and how it grows. Nothing runs here.

A cost is CPU seconds of a run less those of an empty program in a jail alike. All statistics are on logarithms of
costs, since the noise of CPU time is a share of it. Where the measurement cannot decide, the evidence says "not enough
signal" and the reward is that of a program that was not measured.

**Ratio** (`Reference`). Each round gives log(candidate / reference) of the tests' summed costs. From the rounds comes
the 99 % interval of the 20 % trimmed mean (Tukey and McLaughlin, 1963), so that one wild round in five does not decide.
It is widened by `BIAS` to both sides: equal work differs by that much between processes for reasons such as the layout
of memory (Mytkowicz et al., ASPLOS 2009), however often one repeats.

**Growth** (`Growth`). The cost of a size is the smallest of its runs, for whatever else runs on the host can only add to
it, up to twofold where two programs share a core. For a class f, the *excess* is the exponent x in cost = b f(n) n^x: the
least-squares slope of log(cost / f(n)) over log n, with its 99 % interval (Student's t). The noise in it is the scatter
about the line of the class that fits best: a wrong class must not excuse itself by fitting badly. A class is excluded
when, by all of that interval, cost / f(n) drifts by more than `DRIFT` between the smallest and the largest size: caches
make honest programs drift about as much. The excess over O(1) is the exponent that is reported.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from jailpy.errors import UsageError

#: Seconds beyond an empty program that are never taken for more than noise, and how many spreads of the empty runs.
FLOOR_S, FLOOR_SPREADS = 0.005, 3.0
BIAS = 1.05
DRIFT = 1.5
#: The ends of the ratio's interval may earn shares that differ by this much; a wider one is not enough signal.
WIDEST = 0.25
#: Fewer sizes leave no scatter to judge the fit by; sizes within this factor of each other leave no growth to see.
FEWEST_SIZES, NARROWEST = 4, 1.2
SMALLEST_SIZE, LARGEST_SIZE = 2.0, 1e15
FEWEST_REPEATS, MOST_REPEATS = 3, 100

#: log f(n) of each class of growth, from the slowest.
GROWTH: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {
        "1": lambda n: 0.0,
        "log n": lambda n: math.log(math.log(n)),
        "n": math.log,
        "n log n": lambda n: math.log(n) + math.log(math.log(n)),
        "n^2": lambda n: 2 * math.log(n),
        "n^3": lambda n: 3 * math.log(n),
        "2^n": lambda n: n * math.log(2),
    }
)

#: Student's t, two-sided 99 %, for 1 to 30 degrees of freedom.
_T99 = (
    *(63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169),
    *(3.106, 3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845),
    *(2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of one test's runs, one a round; `empty` is the empty program's, `size` the test's."""

    candidate: tuple[float, ...]
    empty: tuple[float, ...]
    reference: tuple[float, ...] = ()
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Efficiency:
    """What measuring a program's cost has shown.

    kind       "ratio": `value` is candidate / reference; "growth": `value` is the exponent of the size
    value      None where there is none, like its 99 % interval `low` to `high`
    signal     whether that decides; False: not enough signal, and the reward is that of a program not measured
    share      0 to 1, what it earns of the part of the reward that depends on cost; None without signal
    classes    classes of growth that cannot be excluded, from the slowest; empty for a ratio
    reason     one line
    """

    kind: str
    value: float | None
    low: float | None
    high: float | None
    signal: bool
    share: float | None
    classes: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Cost against that of a reference solution. The share is 1 up to ratio 1 and falls with the logarithm of the ratio
    to 0 at `worst`; it is read at the interval's low end, so what cannot be told from the reference earns the same.

    reference   the program's text; it must pass the tests
    repeats     rounds; in each, every test runs once with the candidate, the reference and an empty program
                On a busy host (equal runs differ by a fifth) 7 mostly tell a ratio of 2 from 1, and 20 one of 1.5
    worst       the ratio from which the share is 0
    least       the reward of a program that passes but earns no share, as a part of the full one
    """

    reference: str | bytes
    repeats: int = 7
    worst: float = 10.0
    least: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.reference, (str, bytes)):
            raise UsageError("scoring.reference", f"{type(self.reference).__name__} given; pass the program's text")
        _check_common(self.repeats, self.least)
        if not _is_number(self.worst) or not 1 < self.worst <= 1e6:
            raise UsageError("scoring.worst", f"{self.worst!r} must be a number above 1 and at most a million")

    def share(self, ratio: float) -> float:
        """The curve."""
        return min(1.0, max(0.0, 1.0 - math.log(ratio) / math.log(self.worst)))

    def evidence(self, costs: Sequence[Cost]) -> Efficiency:
        """The ratio of the summed costs of all tests."""
        empty = _totals(cost.empty for cost in costs)
        mine = _beyond(_totals(cost.candidate for cost in costs), empty)
        theirs = _beyond(_totals(cost.reference for cost in costs), empty)
        floor = noise_floor(empty)
        if statistics.median(theirs) < floor:
            return _no_signal("ratio", f"the reference takes less than {_ms(floor)} beyond an empty program")
        logs = [math.log(max(a, floor) / max(b, floor)) for a, b in zip(mine, theirs, strict=True)]
        centre, half = trimmed_interval(logs)
        value, low, high = _exp(centre), _exp(centre - half) / BIAS, _exp(centre + half) * BIAS
        text = f"{value:.3g} times the reference's CPU time ({low:.3g} to {high:.3g})"
        if self.share(low) - self.share(high) > WIDEST:
            return _no_signal("ratio", f"{text} is too wide an interval", value, low, high)
        return Efficiency("ratio", value, low, high, True, self.share(low), (), text)


@dataclass(frozen=True, slots=True)
class Growth:
    """How cost grows with the tests' sizes. The share is 1 when it grows at most as `expected`, 0 when it grows faster,
    and there is not enough signal when the interval leaves both open.

    Growth says nothing of the amount: a program that wastes time on small inputs looks as if it grew slowly.

    expected   one of GROWTH
    repeats    rounds; in each, every test that has a size runs once with the candidate and an empty program
    least      the reward of a program that passes but earns no share, as a part of the full one
    """

    expected: str
    repeats: int = 7
    least: float = 0.5

    def __post_init__(self) -> None:
        if self.expected not in list(GROWTH):
            raise UsageError("scoring.expected", f"{self.expected!r} is no class of growth; one of {', '.join(GROWTH)}")
        _check_common(self.repeats, self.least)

    def evidence(self, costs: Sequence[Cost]) -> Efficiency:
        """The exponent and the classes, from the tests whose cost is above the noise."""
        points = [point for cost in costs if (point := _point(cost)) is not None]
        sizes = {size for size, _ in points}
        if len(sizes) < FEWEST_SIZES:
            few = f"{len(sizes)} sizes cost more than noise, and fewer than {FEWEST_SIZES} show no growth"
            return _no_signal("growth", few)
        span = max(sizes) / min(sizes)
        if span < NARROWEST:
            return _no_signal("growth", f"the sizes differ by a factor of {span:.3g} only")
        slack = math.log(DRIFT) / math.log(span)
        lines = {name: _line(points, log_f) for name, log_f in GROWTH.items()}
        half = _t99(len(points) - 2) * min(error for _, error in lines.values())
        possible = tuple(name for name, (excess, _) in lines.items() if abs(excess) - half <= slack)
        value, over = lines["1"][0], lines[self.expected][0]
        low, high = value - half, value + half
        text = f"grows as n^{value:.2f} ({low:.2f} to {high:.2f}); possible: {', '.join(possible) or 'no class'}"
        slower, faster = over + half <= slack, over - half > slack
        if not slower and not faster:
            text = f"{text}; it may or may not be at most {self.expected}"
            return _no_signal("growth", text, value, low, high, possible)
        return Efficiency("growth", value, low, high, True, 1.0 if slower else 0.0, possible, text)


Measure = Reference | Growth


def trimmed_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Centre and half width of the 99 % interval of the mean without the lowest and the highest fifth. At least 3."""
    kept, cut = _middle(samples)
    centre = statistics.fmean(kept)
    winsorized = [*itertools.repeat(kept[0], cut), *kept, *itertools.repeat(kept[-1], cut)]
    mean = statistics.fmean(winsorized)
    deviance = math.fsum((sample - mean) ** 2 for sample in winsorized)
    return centre, _t99(len(kept) - 1) * math.sqrt(deviance / (len(kept) * (len(kept) - 1)))


def noise_floor(empty: Sequence[float]) -> float:
    """Seconds beyond the empty program below which a cost is noise."""
    kept, _ = _middle(empty)
    return max(FLOOR_S, FLOOR_SPREADS * (kept[-1] - kept[0]))


def size_number(field: str, size: object) -> float:
    """A test's size as a float. UsageError for what is none."""
    if not _is_number(size) or not SMALLEST_SIZE <= size <= LARGEST_SIZE:  # type: ignore[operator]
        raise UsageError(field, f"{size!r} must be a number from {SMALLEST_SIZE:g} to {LARGEST_SIZE:g}")
    return float(size)  # type: ignore[arg-type]


def _point(cost: Cost) -> tuple[float, float] | None:
    """(size, log of its cost); None where that is noise."""
    beyond, floor = _beyond(cost.candidate, cost.empty), noise_floor(cost.empty)
    if statistics.median(beyond) < floor:
        return None
    return cost.size, math.log(max(min(cost.candidate) - min(cost.empty), floor))


def _line(points: Sequence[tuple[float, float]], log_f: Callable[[float], float]) -> tuple[float, float]:
    """Slope of log(cost / f) over log size, and its standard error."""
    xs = [math.log(size) for size, _ in points]
    ys = [log_cost - log_f(size) for size, log_cost in points]
    slope, intercept = statistics.linear_regression(xs, ys)
    mean = statistics.fmean(xs)
    spread = math.fsum((x - mean) ** 2 for x in xs)
    scatter = math.fsum((y - intercept - slope * x) ** 2 for x, y in zip(xs, ys, strict=True)) / (len(points) - 2)
    return slope, math.sqrt(scatter / spread)


def _middle(samples: Sequence[float]) -> tuple[list[float], int]:
    """The sorted samples without a fifth at either end, and how many that is."""
    cut = len(samples) // 5
    return sorted(samples)[cut : len(samples) - cut], cut


def _totals(rows: Iterable[tuple[float, ...]]) -> list[float]:
    return [math.fsum(column) for column in zip(*rows, strict=True)]


def _beyond(seconds: Sequence[float], empty: Sequence[float]) -> list[float]:
    return [whole - fixed for whole, fixed in zip(seconds, empty, strict=True)]


def _no_signal(
    kind: str,
    why: str,
    value: float | None = None,
    low: float | None = None,
    high: float | None = None,
    classes: tuple[str, ...] = (),
) -> Efficiency:
    return Efficiency(kind, value, low, high, False, None, classes, f"not enough signal: {why}")


def _t99(freedom: int) -> float:
    return _T99[min(freedom, len(_T99)) - 1]


def _exp(x: float) -> float:
    return math.exp(min(700.0, max(-700.0, x)))  # beyond, a float overflows


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"


def _check_common(repeats: object, least: object) -> None:
    if type(repeats) is not int or not FEWEST_REPEATS <= repeats <= MOST_REPEATS:
        raise UsageError("scoring.repeats", f"{repeats!r} must be a whole number, {FEWEST_REPEATS} to {MOST_REPEATS}")
    if not _is_number(least) or not 0 <= least <= 1:  # type: ignore[operator]
        raise UsageError("scoring.least", f"{least!r} must be a number from 0 to 1")


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and not math.isnan(value)  # type: ignore[arg-type]
