"""Programs near their limits, graded on a quiet machine and beside 16 busy processes a CPU. No verdict may differ.

    just under   uses 0.7 of cpu_s, then prints: passes
    over         uses 1.4 of cpu_s: time limit
    short sleep  sleeps 0.7 of wall_s: passes
    long sleep   sleeps 1.4 of wall_s: time limit
    both         uses 0.35 of cpu_s, then sleeps 0.35 of wall_s: passes

wall_s is `--wall` times cpu_s (3, as in the default limits): a busy program that gets one seventeenth of a CPU needs 17
times its CPU time on the clock, so what is seen here is whether starved time counts. The load is this program's own
children; they end with it, at the latest after `--most` seconds. Exits with 1 when a verdict differs or is wrong.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks import common
from jailpy import Grade, Jail, Limits
from jailpy.verdict import Verdict

_BURN = "import time\nend = {cpu!r} - 0.004\nwhile time.process_time() < end:\n    pass\n"
_NAP = "import time\ntime.sleep({wall!r})\n"
_PRINT = "print(1)\n"
_TESTS = [{"input": "", "expected_output": "1"}]
# The parent is watched, so that a busy process never outlives it.
_BUSY = "import os,sys,time\nup=os.getppid()\nend=time.monotonic()+float(sys.argv[1])\nwhile time.monotonic()<end:\n" + (
    "    for _ in range(100000):\n        pass\n    if os.getppid()!=up:\n        break\n"
)


def kinds(limits: Limits) -> dict[str, tuple[str, Verdict]]:
    """Each kind's program, and the verdict that is right."""
    cpu, wall = limits.cpu_s, limits.wall_s
    return {
        "just under": (_BURN.format(cpu=0.7 * cpu) + _PRINT, Verdict.PASSED),
        "over": (_BURN.format(cpu=1.4 * cpu) + _PRINT, Verdict.TIME_LIMIT),
        "short sleep": (_NAP.format(wall=0.7 * wall) + _PRINT, Verdict.PASSED),
        "long sleep": (_NAP.format(wall=1.4 * wall) + _PRINT, Verdict.TIME_LIMIT),
        "both": (_BURN.format(cpu=0.35 * cpu) + _NAP.format(wall=0.35 * wall) + _PRINT, Verdict.PASSED),
    }


@contextlib.contextmanager
def load(processes: int, most: float) -> Iterator[None]:
    """So many busy processes, for so many seconds at most."""
    # A session each: where the kernel groups processes by session (autogroup), one session of many would be one share.
    command = [sys.executable, "-I", "-S", "-c", _BUSY, str(most)]
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(processes)]
    try:
        time.sleep(1.0)
        yield
    finally:
        for process in busy:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            process.wait()


def graded(jail: Jail, programs: list[tuple[str, str]]) -> tuple[list[Grade], float]:
    """All programs, handed in at once; and how long that took."""
    begun = time.monotonic()
    jobs = [{"code": code, "tests": _TESTS} for _, code in programs]
    return list(jail.grade_many(jobs, ordered=True)), time.monotonic() - begun


def measure(count: int, limits: Limits, a_cpu: int, most: float) -> dict[str, Any]:
    """Verdicts quiet and under load, by kind."""
    right = {name: verdict for name, (_, verdict) in kinds(limits).items()}
    named = list(kinds(limits).items())
    programs = [(name, code) for number in range(count) for name, (code, _) in [named[number % len(named)]]]
    with Jail(limits=limits) as jail:
        graded(jail, programs[:5])
        quiet, quiet_s = graded(jail, programs)
        with load(a_cpu * len(os.sched_getaffinity(0)), most):
            loaded, loaded_s = graded(jail, programs)
    by_kind = {}
    for name, verdict in right.items():
        at = [number for number in range(count) if programs[number][0] == name]
        by_kind[name] = {
            "right": verdict.value,
            "quiet": dict(Counter(quiet[number].verdict.value for number in at)),
            "loaded": dict(Counter(loaded[number].verdict.value for number in at)),
            "loaded_statuses": dict(Counter(loaded[number].outcomes[0].status.value for number in at)),
            "quiet_wall_s": common.percentile([quiet[number].outcomes[0].wall_s for number in at], 0.5),
            "loaded_wall_s": common.percentile([loaded[number].outcomes[0].wall_s for number in at], 0.5),
            "loaded_wall_max_s": max(loaded[number].outcomes[0].wall_s for number in at),
        }
    return {
        "programs": count,
        "limits": {"cpu_s": limits.cpu_s, "wall_s": limits.wall_s},
        "seconds": {"quiet": quiet_s, "loaded": loaded_s},
        "kinds": by_kind,
        "different": sum(a.verdict is not b.verdict for a, b in zip(quiet, loaded, strict=True)),
        "wrong_quiet": sum(grade.verdict is not right[programs[at][0]] for at, grade in enumerate(quiet)),
        "wrong_loaded": sum(grade.verdict is not right[programs[at][0]] for at, grade in enumerate(loaded)),
    }


def main() -> int:
    """One table; 1 when a verdict differs or is wrong."""
    parser = common.parser(__doc__)
    parser.add_argument("--cpu", type=float, default=0.2, help="cpu_s of every program (default 0.2)")
    parser.add_argument("--wall", type=float, default=3.0, help="wall_s as a multiple of cpu_s (default 3)")
    parser.add_argument("--busy", type=int, default=16, help="busy processes a CPU (default 16)")
    parser.add_argument("--most", type=float, default=1200.0, help="seconds of load at most (default 1200)")
    arguments = parser.parse_args()
    common.print_machine()
    limits = Limits(cpu_s=arguments.cpu, wall_s=arguments.cpu * arguments.wall)
    figures = measure(40 if arguments.quick else 200, limits, arguments.busy, arguments.most)
    rows = [
        (
            name,
            each["right"],
            *(", ".join(f"{count} {verdict}" for verdict, count in each[when].items()) for when in ("quiet", "loaded")),
            *(common.number(each[key]) for key in ("quiet_wall_s", "loaded_wall_s", "loaded_wall_max_s")),
        )
        for name, each in figures["kinds"].items()
    ]
    common.table(("kind", "right", "quiet", "loaded", "wall s quiet", "loaded", "loaded max"), rows)
    wrong = figures["wrong_quiet"], figures["wrong_loaded"]
    print(f"{figures['programs']} programs, cpu_s {limits.cpu_s:g}, wall_s {limits.wall_s:g}; verdicts (must be 0):")
    print(f"{figures['different']} differ, {wrong[0]} wrong when quiet, {wrong[1]} wrong under load")
    common.write_json(arguments.json, {"verdicts_under_load": figures})
    return 1 if figures["different"] or any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
