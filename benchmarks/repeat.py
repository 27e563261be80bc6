"""Grades the same programs again and again: does each get one grade, and the right one?

The programs (tests/data/repeat.txt) are randomised, threaded, dependent on orders, near limits, or fail in ways whose
descriptions may differ; each is a stdio test, a call, and an assert through the referee. What is compared is the verdict,
the reward, and the reason. Exits with 1 when a program got two grades or a wrong one.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks import common
from jailpy import Grade, Jail, Job, Limits, Policy

sys.path.append(str(Path(__file__).parent.parent / "tests" / "sandbox"))

from repeated import REPEATED, Repeated

_ROUND = 4  # grades of each program in one batch: enough to keep all workers busy
_Said = tuple[str, float | None, str]


def said(grade: Grade) -> _Said:
    """What must be the same each time."""
    reason = grade.error or " ".join(outcome.reason for outcome in grade.outcomes)
    return grade.verdict.value, grade.reward, reason


def main() -> int:
    """A line for each program that was not judged alike, and the counts."""
    parser = common.parser(__doc__)
    parser.add_argument("--grades", type=int, default=10_000, help="how many in all")
    args = parser.parse_args()
    common.print_machine()
    rounds = max(1, (600 if args.quick else args.grades) // (len(REPEATED) * _ROUND) + 1)
    seen: dict[str, Counter[_Said]] = {one.name: Counter() for one in REPEATED}
    began = time.monotonic()
    with Jail(Policy.from_environment()) as jail:
        for at in range(rounds):
            common.progress(f"round {at + 1} of {rounds}")
            batch: list[Repeated] = REPEATED * _ROUND
            jobs = [Job(one.code, [one.test], limits=Limits(cpu_s=10, wall_s=60)) for one in batch]
            for one, grade in zip(batch, jail.grade_many(jobs, ordered=True), strict=True):
                seen[one.name][said(grade)] += 1
    common.progress("")
    bad = 0
    for one in REPEATED:
        grades = seen[one.name]
        if len(grades) > 1 or next(iter(grades))[0] != one.verdict:
            bad += 1
            print(f"{one.name}: right is {one.verdict}")
            for grade, times in grades.most_common(5):
                print(f"  {times:6} x {grade}")
    total = sum(sum(grades.values()) for grades in seen.values())
    print(
        f"{total} grades of {len(REPEATED)} programs in {time.monotonic() - began:.0f} s; {bad} not judged alike and right"
    )
    figures = {name: [[*grade, times] for grade, times in grades.items()] for name, grades in seen.items()}
    common.write_json(args.json, {"grades": total, "bad": bad, "seen": figures})
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
