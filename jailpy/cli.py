"""The command line: parsing and printing. `jailpy --help` says what there is."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import BinaryIO

import jailpy
from jailpy import cli_grade, cli_hacks, demo, doctor, doctor_attack
from jailpy.errors import InfrastructureError, LayerMissing, UsageError
from jailpy.jail import Jail, Job
from jailpy.kernel.probe import host
from jailpy.languages import LANGUAGES
from jailpy.limits import Limits
from jailpy.lower import enforced
from jailpy.policy import EXTRAS, Policy
from jailpy.progress import Progress
from jailpy.status import Result, Status
from jailpy.table import print_table

USAGE, INFRASTRUCTURE, INTERRUPTED = 2, 70, 130
_DEMO_MAY_LACK = frozenset({"cgroup", "memory_cgroup", "pids_cgroup"})
_LIMIT_HELP = {
    "cpu_s": "seconds of CPU time of the whole jail",
    "wall_s": "seconds on the clock",
    "memory_mb": "MiB of resident memory",
    "processes": "processes and threads",
    "output_mb": "MiB on stdout and stderr together",
    "disk_mb": "MiB in all writable places together",
    "open_files": "file descriptors of one process",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit status."""
    arguments = _parser().parse_args(argv)
    commands = {"demo": _demo, "run": _run, "grade": _grade, "hacks": _hacks, "doctor": _doctor}
    try:
        status = commands[arguments.command](arguments)
        sys.stdout.flush()  # here, where a reader that is gone is no traceback
        return status
    except UsageError as error:
        return _complain(str(error), USAGE)
    except InfrastructureError as error:
        return _complain(str(error), INFRASTRUCTURE)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Who read our output is gone; without this the interpreter complains once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _complain(message: str, status: int) -> int:
    print(f"jailpy: {message}", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jailpy", description="Runs and grades untrusted programs, each in a jail of its own."
    )
    parser.add_argument("--version", action="version", version=f"jailpy {jailpy.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    _add_demo(commands.add_parser("demo", help="grade a bundled sample of real problems"))
    _add_run(commands.add_parser("run", help="run one program"))
    _add_grade(commands.add_parser("grade", help="grade programs with tests, JSON lines in and out"))
    command = commands.add_parser("hacks", help="try a pack of programs that forge their reward, here or elsewhere")
    cli_hacks.add_arguments(command)
    _add_allow_degraded(command)
    command = commands.add_parser("doctor", help="try every layer of isolation on this host")
    command.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    command.add_argument(
        "--attack",
        action="store_true",
        help="run a pack of programs that want out of their jails instead, and say what stopped each",
    )
    command.description = (
        "Exit status: 0 when all layers hold, 1 when some are missing, 2 when one does not hold. With --attack: 0 when "
        "every program was contained, 2 when one was not. --allow-degraded is for --attack alone."
    )
    _add_allow_degraded(command)
    return parser


def _add_demo(command: argparse.ArgumentParser) -> None:
    command.description = "Exit status: 0 when every program was judged as expected, 1 otherwise."
    command.add_argument("--quick", action="store_true", help="only a few problems of each set")
    _add_common(command)


def _add_run(command: argparse.ArgumentParser) -> None:
    command.description = (
        "stdout and stderr pass through; the last line on stderr says how the program ended. Exit status: "
        "the program's own if it exited, 1 if a signal or a limit ended it, 2 for a wrong call, 70 if the host failed."
    )
    command.add_argument("file", metavar="FILE", help="the program; - for standard input")
    command.add_argument(
        "--stdin", metavar="FILE", help="what the program reads; - for standard input; default nothing"
    )
    command.add_argument("--language", default="python", help=f"default python; one of {', '.join(LANGUAGES)}")
    command.add_argument(
        "--json", action="store_true", help="one JSON object on stdout instead of the program's output"
    )
    for spec in fields(Limits):
        command.add_argument(
            f"--{spec.name.replace('_', '-')}",
            type=int if spec.type == "int" else float,
            metavar="N",
            help=f"{_LIMIT_HELP[spec.name]}; default {spec.default:g}",
        )
    _add_allow_degraded(command)


def _add_grade(command: argparse.ArgumentParser) -> None:
    command.description = (
        'One object a line: {"id", "code", "tests"} and, where wanted, language, limits, scoring, in_process. A line '
        "that is no job gives a line with its number and the error. Exit status: 0 when all lines were judged, else 1."
    )
    command.add_argument("file", metavar="FILE", help="JSON lines; - for standard input")
    command.add_argument("--out", metavar="FILE", help="where the grades go; default standard output")
    command.add_argument(
        "--scoring",
        metavar="NAME|JSON",
        default="seed",
        help=f"{', '.join(cli_grade.SCORINGS)}, or an object with such a name and options; default seed",
    )
    command.add_argument("--ordered", action="store_true", help="grades in the order of the lines")
    command.add_argument("--extract", action="store_true", help="code is a model's answer that holds the program")
    command.add_argument("--in-process", action="store_true", help="allow assert tests to run beside the program")
    _add_common(command)


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--workers", type=int, metavar="N", help="jails at once; default the CPUs")
    _add_allow_degraded(command)


def _add_allow_degraded(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--allow-degraded",
        metavar="LAYERS",
        help="layers that may be missing, separated by commas; default JAILPY_ALLOW_DEGRADED",
    )


def _policy(arguments: argparse.Namespace, may_lack: frozenset[str] = frozenset()) -> Policy:
    """The policy of a command. LayerMissing here, before anything is read or run."""
    if arguments.allow_degraded is None:
        named = Policy.from_environment().allow_degraded
    else:
        named = frozenset(arguments.allow_degraded.replace(",", " ").split())
    policy = Policy(allow_degraded=named | may_lack)
    try:
        enforced(policy, host())
    except LayerMissing as error:
        lacking = [layer for layer in host().missing if layer not in EXTRAS]
        raise InfrastructureError(
            f"{error.layer}: {error.why}. To have it: {error.fix} To run without all that this host lacks: "
            f"--allow-degraded {','.join(lacking)}"
        ) from None
    return policy


def _demo(arguments: argparse.Namespace) -> int:
    policy = _policy(arguments, _DEMO_MAY_LACK)
    samples = demo.load(quick=arguments.quick)
    progress = Progress(len(samples))
    grades = []
    with Jail(policy, demo.LIMITS, workers=arguments.workers) as jail:
        for grade in jail.grade_many([sample.job for sample in samples]):
            progress.step()
            grades.append(grade)
    rate = progress.rate
    progress.finish()
    rows = demo.tally(samples, grades)
    print_table([_DEMO_HEADER, *(_demo_row(row) for row in rows)])
    print()
    for right, word in ((True, "right ones passed"), (False, "wrong ones rejected")):
        chosen = [row for row in rows if row.right is right]
        print(f"{word} {sum(row.as_expected for row in chosen)} of {sum(row.programs for row in chosen)}")
    print(f"{rate:.1f} programs/s with {jail.workers} jails at once")
    print(_enforced_in_words(enforced(policy, host())))
    for grade in grades:
        if grade.error:
            print(f"not judged: {samples[grade.id].problem}: {grade.error}", file=sys.stderr)
    return 0 if all(row.as_expected == row.programs for row in rows) else 1


_DEMO_HEADER = ("problem set", "programs", "expected", "got", "mean reward", "verdicts")


def _demo_row(row: demo.Row) -> tuple[str, ...]:
    verdicts = ", ".join(f"{count} {name}" for name, count in row.verdicts.most_common())
    mean = "none" if row.mean_reward is None else f"{row.mean_reward:.3f}"
    wanted = "passed" if row.right else "rejected"
    kind = "right" if row.right else "wrong"
    return (
        row.problem_set,
        f"{row.programs} {kind}",
        f"{row.programs} {wanted}",
        f"{row.as_expected} {wanted}",
        mean,
        verdicts,
    )


def _enforced_in_words(layers: dict[str, str]) -> str:
    degraded = [f"{name} ({how})" for name, how in layers.items() if how != "on"]
    total = f"{len(layers) - len(degraded)} of {len(layers)} layers of isolation are on"
    return f"{total}; not on this host: {'; '.join(degraded)}" if degraded else total


def _run(arguments: argparse.Namespace) -> int:
    if arguments.file == "-" == arguments.stdin:
        raise UsageError("--stdin", "standard input already holds the program; name a file")
    given = {spec.name: getattr(arguments, spec.name) for spec in fields(Limits)}
    limits = Limits(**{name: value for name, value in given.items() if value is not None})
    policy = _policy(arguments)
    code, stdin = _read(arguments.file), _read(arguments.stdin) if arguments.stdin else b""
    with Jail(policy, limits, workers=1, warm=False) as jail:
        result = jail.run(code, stdin, language=arguments.language)
    if arguments.json:
        print(_result_json(result, limits))
    else:
        _pass_through(result, limits)
    return result.exit_code if result.status is Status.EXITED and result.exit_code is not None else 1


def _pass_through(result: Result, limits: Limits) -> None:
    for stream, data in ((sys.stdout.buffer, result.stdout), (sys.stderr.buffer, result.stderr)):
        stream.write(data)
        stream.flush()
    usage = result.usage
    start = "" if result.stderr.endswith(b"\n") or not result.stderr else "\n"
    peak = f"{usage.memory_peak / (1 << 20):.1f} MiB at the peak ({usage.memory_source})"
    how = result.describe(limits)
    print(f"{start}jailpy: {how}; {usage.cpu_s:.3f} s CPU, {usage.wall_s:.3f} s wall, {peak}", file=sys.stderr)


def _result_json(result: Result, limits: Limits) -> str:
    """Output as text: UTF-8, and every other byte as the lone surrogate that os.fsencode turns back into it."""
    return json.dumps(
        {
            "status": result.status.value,
            "exit_code": result.exit_code,
            "signal": result.signal,
            "how": result.describe(limits),
            "stdout": result.stdout.decode("utf-8", "surrogateescape"),
            "stderr": result.stderr.decode("utf-8", "surrogateescape"),
            "usage": asdict(result.usage),
            "enforced": result.enforced,
        }
    )


def _grade(arguments: argparse.Namespace) -> int:
    scoring = cli_grade.scoring_of(arguments.scoring)
    defaults = Job("", None, scoring=scoring, extract=arguments.extract, in_process=arguments.in_process)
    policy = _policy(arguments)
    with contextlib.ExitStack() as stack:
        lines = stack.enter_context(_opened(arguments.file, "rb")) if arguments.file != "-" else sys.stdin.buffer
        out = stack.enter_context(_opened(arguments.out, "wb")) if arguments.out else sys.stdout.buffer
        jail = stack.enter_context(Jail(policy, workers=arguments.workers))
        progress = Progress()
        counts = cli_grade.grade_lines(
            jail, lines, out, defaults=defaults, ordered=arguments.ordered, progress=progress
        )
        progress.finish()
    said = f"{counts.judged} judged, {counts.refused} refused as they stood, {counts.failed} not judged"
    print(f"jailpy: {said}", file=sys.stderr)
    return 0 if counts.all_judged else 1


def _hacks(arguments: argparse.Namespace) -> int:
    return cli_hacks.run(arguments, lambda: _policy(arguments, _DEMO_MAY_LACK))


def _doctor(arguments: argparse.Namespace) -> int:
    if arguments.attack:
        return doctor_attack.run(_policy(arguments, _DEMO_MAY_LACK), arguments.json)
    report = doctor.examine()
    print(report.to_json() if arguments.json else "\n".join(report.lines()))
    return report.exit_status


def _opened(path: str, mode: str) -> BinaryIO:
    try:
        return open(path, mode)  # type: ignore[return-value]
    except OSError as error:
        raise UsageError(path, f"cannot be opened: {error.strerror}") from None


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    with _opened(path, "rb") as file:
        try:
            return file.read()
        except OSError as error:
            raise UsageError(path, f"cannot be read: {error.strerror}") from None
