"""`jailpy hacks`: how far the pack of hostile programs gets, in jailpy and in other graders."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jailpy import capacity, hacks
from jailpy.errors import UsageError
from jailpy.hacks import Hack, measure, problem
from jailpy.jail import Jail
from jailpy.policy import Policy
from jailpy.progress import Progress
from jailpy.table import print_table
from jailpy.verdict import Verdict


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The command's own."""
    command.description = (
        "Grades each technique in jailpy by every type of test that applies, and in the naive graders that it is made "
        "for, in jails of their own. Exit status: 0 when nothing was fooled that should not be, 1 otherwise."
    )
    command.add_argument("names", metavar="NAME", nargs="*", help="techniques; default all")
    instead = command.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help="say what each technique tries, and run nothing")
    instead.add_argument("--show", action="store_true", help="print the programs, and run nothing")
    instead.add_argument(
        "--against",
        metavar="COMMAND",
        help='measure another grader: started for each program, it reads {"code": text, "tests": [...]} on stdin and '
        "writes the reward, a number, as the last line of stdout; any other end refuses the program. A reward above the "
        "one for a wrong program is a success of the technique. The command runs hostile programs: start it where that "
        "grader runs",
    )
    instead.add_argument(
        "--as",
        dest="grader",
        metavar="GRADER",
        help="be such a command: one of the naive graders, in a jail",
    )
    command.add_argument("--suites", metavar="NAMES", help="with --against: test suites; default each technique's own")
    command.add_argument("--seconds", type=float, default=60.0, help="with --against: for one program; default 60")
    command.add_argument("--json", action="store_true", help="one JSON object a technique instead of the table")
    command.add_argument("--workers", type=int, metavar="N", help="programs at once; default the CPUs")


def run(arguments: argparse.Namespace, policy: Callable[[], Policy]) -> int:
    """The command. `policy` is asked for where a jail is needed."""
    if arguments.grader:
        return _be(arguments.grader, policy())
    chosen = hacks.load(arguments.names)
    if arguments.show:
        print("\n".join(hack.code for hack in chosen), end="")
        return 0
    if arguments.list:
        print("\n".join(_listed(hack, arguments.json) for hack in chosen))
        return 0
    if arguments.against is not None:
        return _against(chosen, arguments)
    return _in_jailpy(chosen, policy(), arguments)


def _be(grader: str, policy: Policy) -> int:
    """One of the naive graders as a command of the kind that `--against` takes."""
    try:
        job = json.load(sys.stdin)
        code, tests = job["code"], job["tests"]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError("stdin", f'is no job; give {{"code": text, "tests": [...]}} ({error})') from None
    known = sorted({name for hack in hacks.load() for name, _ in hack.fools})
    if grader not in known:
        raise UsageError("--as", f"{grader!r} is no naive grader; choose from {', '.join(known)}")
    with measure.NaiveGraders(policy, workers=1) as graders:
        print(int(graders.accepts(grader, code, tests)))
    return 0


def _listed(hack: Hack, as_json: bool) -> str:
    if as_json:
        fools = ["/".join(pair) for pair in hack.fools]
        return json.dumps({"name": hack.name, "what": hack.what, "rows": hack.rows, "fools": fools})
    return f"{hack.name:26}{' '.join(hack.rows):12}{hack.what}"


@dataclass(slots=True)
class _Row:
    """How far one technique got."""

    hack: Hack
    verdicts: collections.Counter[str] = field(default_factory=collections.Counter)
    passed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    fooled: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)

    def as_json(self) -> str:
        return json.dumps(
            {
                "name": self.hack.name,
                "rows": self.hack.rows,
                "fooled": self.fooled,
                "not_fooled": self.held,
                "jailpy": {"verdicts": dict(self.verdicts), "passed": self.passed, "not_judged": self.errors},
            }
        )

    def cells(self) -> tuple[str, ...]:
        said = f"PASSED in {', '.join(self.passed)}" if self.passed else "; ".join(self.errors)
        counted = ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.most_common())
        missed = f"; not {', '.join(self.held)}" if self.held else ""
        return self.hack.name, (", ".join(self.fooled) or "none") + missed, said or counted


def _in_jailpy(chosen: Sequence[Hack], policy: Policy, arguments: argparse.Namespace) -> int:
    rows = {hack.name: _Row(hack) for hack in chosen}
    with Jail(policy, workers=arguments.workers) as jail:
        measure.check_honest(jail)
        for hack, suite, grade in measure.in_jailpy(jail, chosen):
            row = rows[hack.name]
            if grade.error:
                row.errors.append(grade.error)
                continue
            row.verdicts[grade.verdict.value] += 1
            if grade.verdict is Verdict.PASSED:
                row.passed.append(suite)
    with measure.NaiveGraders(policy, arguments.workers) as graders:
        trials = [(hack, pair) for hack in chosen for pair in hack.fools if graders.can(pair[0])]

        def try_it(trial: tuple[Hack, tuple[str, str]]) -> bool:
            hack, (grader, suite) = trial
            return graders.accepts(grader, hack.code, problem.SUITES[suite])

        for (hack, pair), fooled in _at_once(try_it, trials, graders.workers):
            row = rows[hack.name]
            (row.fooled if fooled else row.held).append("/".join(pair))
    return _tell(list(rows.values()), arguments.json)


def _tell(rows: Sequence[_Row], as_json: bool) -> int:
    passed = sum(bool(row.passed) for row in rows)
    fooling = sum(bool(row.fooled) for row in rows)
    unjudged = sum(bool(row.errors) for row in rows)
    if as_json:
        print("\n".join(row.as_json() for row in rows))
    else:
        print_table([("technique", "naive graders that it fools", "verdicts in jailpy"), *(row.cells() for row in rows)])
        print()
        print(f"{passed} of {len(rows)} pass in jailpy; {fooling} of {len(rows)} fool a naive in-process grader")
    return 1 if passed or unjudged or fooling < len(rows) else 0


def _against(chosen: Sequence[Hack], arguments: argparse.Namespace) -> int:
    command = measure.Command.parse(arguments.against, arguments.seconds)
    named = _suites(arguments.suites)
    wanted = sorted({suite for hack in chosen for suite in named or hack.made_for})
    workers = arguments.workers or capacity.cpus()
    scales = dict(_at_once(lambda suite: measure.Scale.of(command, suite), wanted, workers))
    trials = [(hack, suite) for hack in chosen for suite in named or hack.made_for if scales[suite].usable]
    rewards = _at_once(lambda trial: command.reward(trial[0].code, trial[1]), trials, workers)
    by_hack: dict[str, dict[str, float | None]] = {hack.name: {} for hack in chosen}
    for (hack, suite), reward in rewards:
        by_hack[hack.name][suite] = reward
    fooled = 0
    table: list[tuple[str, ...]] = [("technique", "result", "suites")]
    for name, given in by_hack.items():
        won = [suite for suite, reward in given.items() if reward is not None and reward > scales[suite].floor]
        fooled += bool(won)
        result = "fooled" if won else "held" if given else "not tried"
        table.append((name, result, ", ".join(won or given)))
        if arguments.json:
            print(json.dumps({"name": name, "result": result, "fooled": won, "rewards": given}))
    tried = sum(bool(given) for given in by_hack.values())
    if not arguments.json:
        print_table(table)
        print()
        unusable = [suite for suite, scale in scales.items() if not scale.usable]
        if unusable:
            print(f"left out, where it does not reward the honest program more than a wrong one: {', '.join(unusable)}")
        print(f"{fooled} of {tried} techniques fool it; {len(chosen) - tried} not tried")
    return 1 if fooled or not tried else 0


def _suites(names: str | None) -> tuple[str, ...]:
    chosen = tuple((names or "").replace(",", " ").split())
    for name in chosen:
        if name not in problem.SUITES:
            raise UsageError("--suites", f"{name!r} is no suite; choose from {', '.join(problem.SUITES)}")
    return chosen


def _at_once(work: Callable[[Any], Any], items: Iterable[Any], workers: int) -> Iterator[tuple[Any, Any]]:
    """Each item with what work makes of it, in order, with a count on stderr."""
    listed = list(items)
    progress = Progress(len(listed))
    with concurrent.futures.ThreadPoolExecutor(workers) as executor:
        try:
            for item, result in zip(listed, executor.map(work, listed), strict=True):
                progress.step()
                yield item, result
        finally:
            executor.shutdown(cancel_futures=True)
    progress.finish()
