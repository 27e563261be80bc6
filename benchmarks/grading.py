"""Graded problems a second: jailpy beside the plain multiprocessing grader of the kind that trainers ship.

    plain             human-eval's way (assert tests) and the APPS family's (stdio tests): Manager and forked Process a
                      program, exec under an alarm, no isolation (plain_grader.py)
    plain, no manager the same with a pipe: quicker than what is shipped anywhere
    jailpy            one jail a program: its tests joined into one, which is what the plain graders do (assert tests)
    jailpy, each      one jail a test: every test from a clean state
    jailpy, referee   two jails a program: test code in one of its own, as `jailpy.grade` does it by default

All use every CPU, take turns in chunks of the same programs, and leave a program's other tests out once one has failed.
Programs that never end cost everybody the whole time limit, so they are graded once, by all, beforehand. Verdicts are
compared as well: passed or not, by plain and jailpy. Data: JSON lines with `solution`/`wrong_solutions` or
`right`/`wrong`, and `tests`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.common import Cpu
from jailpy import Jail, Job, Limits
from jailpy.verdict import Verdict

_Programs = list[tuple[str, list[dict[str, Any]]]]


def load(text: str) -> _Programs:
    """(code, tests) of every Python program in these JSON lines that has assert or stdio tests."""
    programs: _Programs = []
    for line in text.splitlines():
        row = json.loads(line)
        wrong = [each for each in row.get("wrong_solutions", []) if each.get("language") == "python" and "code" in each]
        codes = [*row.get("right", []), *row.get("wrong", []), *(each["code"] for each in wrong)]
        if row.get("language") == "python" and "solution" in row:
            codes.insert(0, row["solution"])
        tests = [{key: test[key] for key in ("code", "input", "expected_output") if key in test} for test in row["tests"]]
        usable = all(set(test) in ({"code"}, {"input", "expected_output"}) for test in tests)
        if usable and tests and row.get("compare") in (None, "tokens", "trim"):
            prelude = row.get("prelude") or ""
            programs += [(f"{prelude}\n{code}" if prelude else code, tests) for code in codes]
    return programs


class Plain:
    """The plain grader, in a process of its own."""

    def __init__(self, workers: int, seconds: float, *, manager: bool) -> None:
        plan = json.dumps({"workers": workers, "timeout": seconds, "manager": manager})
        command = [sys.executable, str(Path(__file__).parent / "plain_grader.py"), plan]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def grade(self, programs: _Programs) -> tuple[float, float, list[bool | None]]:
        """Seconds, CPU seconds, and which passed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(programs) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["seconds"], answer["cpu"], answer["passed"]

    def close(self) -> None:
        self.process.communicate()


class Jailed:
    """jailpy, in this process."""

    def __init__(self, jail: Jail, *, joined: bool, in_process: bool = True) -> None:
        self.jail, self.joined, self.in_process = jail, joined, in_process

    def grade(self, programs: _Programs) -> tuple[float, float, list[bool | None]]:
        """Seconds, CPU seconds, and which passed; None where the time was up."""
        before, begun = Cpu.now(), time.perf_counter()
        jobs = [
            Job(code, self._tests(tests), in_process=self.in_process, stop_early=True, id=at)
            for at, (code, tests) in enumerate(programs)
        ]
        grades = list(self.jail.grade_many(jobs, ordered=True))
        seconds, used = time.perf_counter() - begun, Cpu.now().since(before).warm
        if broken := [grade for grade in grades if grade.reward is None]:
            raise SystemExit(f"{len(broken)} programs could not be judged, first: {broken[0].error}")
        verdicts = [grade.verdict for grade in grades]
        return seconds, used, [None if each is Verdict.TIME_LIMIT else each is Verdict.PASSED for each in verdicts]

    def _tests(self, tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if "code" in tests[0]:
            return [{"code": "\n".join(test["code"] for test in tests)}] if self.joined else tests
        return [{**test, "compare": "tokens"} for test in tests]


@dataclass(slots=True)
class Record:
    """One grader's figures."""

    seconds: list[float] = field(default_factory=list)
    cpu: float = 0.0
    passed: list[bool | None] = field(default_factory=list)


def measure(
    unique: _Programs, chunk: int, seconds: float, least: int
) -> tuple[_Programs, dict[str, Record], dict[str, list[bool | None]]]:
    """The programs that end, over and over until there are `least`, graded by all in turns; and the first verdicts on
    all programs, of plain and jailpy."""
    with contextlib.ExitStack() as stack:
        jail = stack.enter_context(Jail(limits=Limits(cpu_s=seconds, wall_s=3 * seconds)))
        plain = Plain(jail.workers, seconds, manager=True)
        lean = Plain(jail.workers, seconds, manager=False)
        stack.callback(plain.close)
        stack.callback(lean.close)
        graders = {"plain": plain, "plain, no manager": lean, "jailpy": Jailed(jail, joined=True)}
        if any("code" in tests[0] for _, tests in unique):
            graders["jailpy, each"] = Jailed(jail, joined=False)
            graders["jailpy, referee"] = Jailed(jail, joined=True, in_process=False)
        first = {name: graders[name].grade(unique)[2] for name in ("plain", "jailpy")}
        ending = [each for at, each in enumerate(unique) if all(passed[at] is not None for passed in first.values())]
        programs = (ending * (least // len(ending) + 1))[: max(least, len(ending))]
        for grader in graders.values():
            grader.grade(programs[:4])
        records = {name: Record() for name in graders}
        for at in range(0, len(programs), chunk):
            common.progress(f"{at} of {len(programs)}")
            for name, grader in graders.items():
                spent, used, passed = grader.grade(programs[at : at + chunk])
                records[name].seconds.append(spent)
                records[name].cpu += used
                records[name].passed += passed
        common.progress("")
    return programs, records, first


def show(title: str, programs: _Programs, records: dict[str, Record]) -> dict[str, Any]:
    """One table, the ratios and the disagreements of one set."""
    count, plain = len(programs), records["plain"]
    tests = sum(len(each) for _, each in programs)
    print(f"{title}: {count} programs, {tests} tests")
    figures: dict[str, Any] = {"programs": count, "tests": tests}
    rows = []
    for name, record in records.items():
        rate = count / sum(record.seconds)
        ratios = [theirs / ours for theirs, ours in zip(plain.seconds, record.seconds, strict=True)]
        passed = sum(map(bool, record.passed))
        figures[name] = {
            "per_s": rate,
            "cpu_ms": record.cpu * 1e3 / count,
            "x_plain": sum(plain.seconds) / sum(record.seconds),
            "x_plain_median_chunk": statistics.median(ratios),
            "passed": passed,
        }
        cells = (rate, record.cpu * 1e3 / count, figures[name]["x_plain"], statistics.median(ratios))
        rows.append((name, *map(common.number, cells), str(passed)))
    header = ("", "programs/s", "CPU ms", "x plain", "median chunk", "passed")
    common.table(header, rows)
    print(f"jailpy / plain: {figures['jailpy']['x_plain']:.2f} (at least 3 on MBPP)")
    if "jailpy, each" in records:
        more = (records["jailpy, each"].cpu - records["jailpy"].cpu) * 1e3 / max(1, tests - count)
        slower = sum(records["jailpy, referee"].seconds) / sum(records["jailpy"].seconds)
        print(f"a test beyond the first: {more:.2f} ms of CPU; referee / in process: {slower:.2f} (at most 2)")
        figures |= {"beyond_first_cpu_ms": more, "referee_x_in_process": slower}
    return figures


def disagreements(unique: _Programs, first: dict[str, list[bool | None]]) -> dict[str, Any]:
    """Which programs plain and jailpy judge differently, a time-out being a failure."""
    plain, jailed = first["plain"], first["jailpy"]
    differ = [at for at in range(len(unique)) if bool(plain[at]) is not bool(jailed[at])]
    slow = {name: sum(each is None for each in passed) for name, passed in first.items()}
    print(f"of {len(unique)} programs, out of time: {slow['plain']} by plain, {slow['jailpy']} by jailpy; ", end="")
    print(f"judged differently: {len(differ)}")
    for at in differ[:5]:
        print(f"  plain {plain[at]}, jailpy {jailed[at]}: {unique[at][0][:100]!r}")
    print()
    return {"programs": len(unique), "out_of_time": slow, "differ": [unique[at][0] for at in differ]}


def sets(arguments: argparse.Namespace) -> dict[str, _Programs]:
    """The programs to grade, by the name of their set."""
    if arguments.data:
        return {Path(path).stem: load(Path(path).read_text(encoding="utf-8")) for path in arguments.data}
    folder = resources.files("jailpy.demo")
    return {name: load(folder.joinpath(f"{name}.jsonl").read_text(encoding="utf-8")) for name in ("mbpp", "stdio")}


def main() -> None:
    """One table a set."""
    parser = common.parser(__doc__)
    parser.add_argument("--data", nargs="+", metavar="FILE", help="JSON lines; default: the bundled sample")
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="time limit of a program (default 2; all of MBPP needs 10)"
    )
    parser.add_argument("--least", type=int, default=0, help="repeat a small set until it has so many programs")
    arguments = parser.parse_args()
    common.print_machine()
    figures = {}
    least = arguments.least or (80 if arguments.quick else 400)
    for name, unique in sets(arguments).items():
        if not unique:
            print(f"{name}: no Python programs with assert or stdio tests\n")
            continue
        programs, records, first = measure(unique, 40, arguments.seconds, least)
        figures[name] = {**show(name, programs, records), "first": disagreements(unique, first)}
    common.write_json(arguments.json, {"grading": figures})


if __name__ == "__main__":
    main()
