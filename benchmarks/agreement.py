"""Assert tests through the referee, against the same tests beside the program: who judges otherwise, and what it costs.

Each row's right and wrong programs are graded both ways, one after the other. A pair agrees where both pass or neither
does. Test code that ends in unittest.main() leaves a process by SystemExit, which beside the program is no pass: there the
row's own `reference` is what a right program is compared with.

A row of `--data` is one JSON object a line: `id`, `solution`, `wrong_solutions` (each with `code`), `tests` (each with
`code`), `prelude`, `reference`; rows with other tests are left out. Without `--data`: the rows with asserts among the
problems of the tests.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import common
from jailpy import Grade, Jail, Limits, Policy, Verdict

_SAMPLE = Path(__file__).parent.parent / "tests" / "data" / "problems.jsonl"
_WAYS = ("in process", "referee")


@dataclass(frozen=True)
class Program:
    """One program of a row, and what is known of it."""

    name: str
    code: str
    test: str
    right: bool
    reference: str


def programs(path: Path, most: int | None) -> Iterator[Program]:
    """The programs of a file's rows that are tested by asserts."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["tests"] and all("code" in test for test in row["tests"])]
    for row in rows[:most]:
        test = "\n".join(each["code"] for each in row["tests"])
        prelude = row.get("prelude") or ""
        wrong = row.get("wrong_solutions") or [{"code": row[name]} for name in ("wrong",) if name in row]
        for at, code in enumerate([row["solution"], *[each["code"] for each in wrong if "code" in each]]):
            name = row["id"] if at == 0 else f"{row['id']} wrong {at}"
            yield Program(name, f"{prelude}\n{code}", test, at == 0, str(row.get("reference", "pass")))


@dataclass(frozen=True)
class Seen:
    """One grade and what it cost."""

    grade: Grade
    wall: float
    cpu: float

    @property
    def passed(self) -> bool:
        """Whether the program passed."""
        return self.grade.verdict is Verdict.PASSED

    @property
    def said(self) -> str:
        """Verdict and reason, cut."""
        return f"{self.grade.verdict.value}: {self.grade.outcomes[0].reason:.160}"


def see(jail: Jail, program: Program, limits: Limits, in_process: bool) -> Seen:
    """One grade."""
    before, began = common.Cpu.now(), time.perf_counter()
    grade = jail.grade(program.code, [{"code": program.test}], limits=limits, in_process=in_process)
    wall = time.perf_counter() - began
    common.settle(jail)  # the jails that are made for the next one are this one's cost
    return Seen(grade, wall, common.Cpu.now().since(before).warm)


def agree(program: Program, beside: Seen, refereed: Seen) -> bool:
    """Whether both judge the program in the same way."""
    if program.right and "SystemExit" in beside.said:
        return refereed.passed == program.reference.startswith("pass")
    return refereed.passed == beside.passed


def measure(jail: Jail, path: Path, most: int | None, limits: Limits) -> dict[str, Any]:
    """The figures of one file."""
    counts: Counter[str] = Counter()
    exceptions: list[dict[str, str]] = []
    costs: dict[str, list[float]] = {f"{what} {way}": [] for way in _WAYS for what in ("cpu", "wall")}
    for at, program in enumerate(programs(path, most)):
        common.progress(f"{path.stem} {program.name}")
        seen = [see(jail, program, limits, way == 0) for way in ((0, 1) if at % 2 else (1, 0))]
        beside, refereed = seen if at % 2 else seen[::-1]
        counts["programs"] += 1
        counts["right" if program.right else "wrong"] += 1
        counts["passed by the referee"] += refereed.passed
        counts["needs in_process"] += "in_process=True" in refereed.grade.outcomes[0].reason
        if agree(program, beside, refereed):
            counts["agree"] += 1
        else:
            exceptions.append({"program": program.name, "in process": beside.said, "referee": refereed.said})
        if refereed.passed and agree(program, beside, refereed):
            for way, one in zip(_WAYS, (beside, refereed), strict=True):
                costs[f"cpu {way}"].append(one.cpu)
                costs[f"wall {way}"].append(one.wall)
    return {"file": path.stem, "counts": dict(counts), "exceptions": exceptions, "costs": costs}


def row(found: dict[str, Any]) -> list[str]:
    """A line of the table."""
    counts, costs = found["counts"], found["costs"]
    cells = [found["file"], *[str(counts.get(name, 0)) for name in ("right", "wrong", "agree", "needs in_process")]]
    for what in ("cpu", "wall"):
        beside, refereed = (costs[f"{what} {way}"] for way in _WAYS)
        middle = [common.percentile(times, 0.5) * 1e3 for times in (beside, refereed)]
        ratio = sum(refereed) / sum(beside) if sum(beside) else float("nan")
        cells += [*map(common.number, middle), common.number(ratio)]
    return cells


def main() -> None:
    """Tables, then every exception."""
    parser = common.parser(__doc__)
    parser.add_argument("--data", nargs="*", type=Path, default=[_SAMPLE], metavar="FILE", help="rows in JSON lines")
    parser.add_argument("--cpu", type=float, default=10.0, help="cpu_s of each grade; the clock has three times as much")
    args = parser.parse_args()
    common.print_machine()
    limits = Limits(cpu_s=args.cpu, wall_s=3 * args.cpu, memory_mb=512)
    with Jail(Policy.from_environment(), workers=1) as jail:
        found = [measure(jail, path, 10 if args.quick else None, limits) for path in args.data]
    common.progress("")
    names = [f"{what} {way}" for what in ("cpu", "wall") for way in ("beside p50 ms", "referee p50 ms", "total ratio")]
    common.table(["file", "right", "wrong", "agree", "need in_process", *names], map(row, found))
    for each in found:
        for exception in each["exceptions"]:
            print(f"{each['file']} {exception['program']}\n  in process  {exception['in process']}")
            print(f"  referee     {exception['referee']}")
    common.write_json(args.json, {"files": found})


if __name__ == "__main__":
    sys.exit(main())
