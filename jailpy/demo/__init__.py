"""A bundled sample of real problems with right and wrong programs (sources and licences in NOTICE), and its score."""

from __future__ import annotations

import collections
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources

from jailpy.grading import Grade
from jailpy.jail import Job
from jailpy.limits import Limits
from jailpy.verdict import Verdict

SETS = ("humaneval", "mbpp", "mbpp_calls", "stdio")

#: Some wrong programs never end; they need not be waited for longer than this.
LIMITS = Limits(cpu_s=2.0, wall_s=20.0)
_QUICK = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """One program, and whether it is a right solution of its problem. Its job's id is its place in the sample."""

    problem_set: str
    problem: str
    right: bool
    job: Job


@dataclass(slots=True)
class Row:
    """How the programs of one kind in one problem set did."""

    problem_set: str
    right: bool
    verdicts: collections.Counter[str] = field(default_factory=collections.Counter)
    rewards: list[float] = field(default_factory=list)
    as_expected: int = 0

    @property
    def programs(self) -> int:
        return self.verdicts.total()

    @property
    def mean_reward(self) -> float | None:
        """None where nothing could be judged."""
        return sum(self.rewards) / len(self.rewards) if self.rewards else None

    def add(self, grade: Grade) -> None:
        """Counts one grade. A program that could not be judged is never as expected."""
        self.verdicts[grade.verdict.value] += 1
        if grade.reward is not None:
            self.rewards.append(grade.reward)
            self.as_expected += (grade.verdict is Verdict.PASSED) is self.right


def load(*, quick: bool = False) -> list[Sample]:
    """The sample; with `quick` the first few problems of each set."""
    samples: list[Sample] = []
    for name in SETS:
        lines = resources.files(__name__).joinpath(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines[: _QUICK if quick else None]:
            problem = json.loads(line)
            for right, programs in ((True, problem["right"]), (False, problem["wrong"])):
                for code in programs:
                    job = Job(code, problem["tests"], in_process=problem.get("in_process", False), id=len(samples))
                    samples.append(Sample(problem["set"], problem["id"], right, job))
    return samples


def tally(samples: Sequence[Sample], grades: Iterable[Grade]) -> list[Row]:
    """One row for the right and one for the wrong programs of each set, in the sample's order."""
    rows = {(sample.problem_set, sample.right): Row(sample.problem_set, sample.right) for sample in samples}
    for grade in grades:
        sample = samples[grade.id]
        rows[sample.problem_set, sample.right].add(grade)
    return list(rows.values())
