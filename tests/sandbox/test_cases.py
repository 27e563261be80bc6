"""Troubles of other graders, and public problems: the right verdict for each (tests/data/README.md)."""

from __future__ import annotations

import ast
import json
import mmap
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jails import PATIENCE

from jailpy import Grade, Jail, Job, Limits, Outcome, Policy, Verdict

DATA = Path(__file__).parent.parent / "data"
#: So many equal runs at once where jails are made cold, which takes long.
FEW = 8


def _rows(name: str) -> list[Any]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(row, id=row["id"]) for row in map(json.loads, lines)]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Without the keys that end in _py."""
    made = dict(row)
    for key in [key for key in row if key.endswith("_py")]:
        source = made.pop(key)
        made[key.removesuffix("_py")] = eval(source, {"__builtins__": {}})
    return made


def _limits(row: dict[str, Any]) -> Limits:
    given = {"cpu_s": PATIENCE, "wall_s": PATIENCE, **row.get("limits", {})}
    if "output_kb" in given:
        given["output_mb"] = given.pop("output_kb") / 1024
    return Limits(**given)


def _rights(row: dict[str, Any]) -> set[str]:
    return {row["right"]["verdict"], *row["right"].get("any_of", ())}


@pytest.mark.parametrize("row", _rows("cases"))
def test_case(row: dict[str, Any], way: str, jail: Jail) -> None:
    if "env" in row or "needs" in row:
        # Packages are those of the tests' own environment.
        python = sys.executable if "needs" in row else None
        policy = replace(jail.policy, environment=row.get("env", {}), python=python)
        with Jail(policy, workers=1, warm=way == "warm") as other:
            _check(row, way, other)
    else:
        _check(row, way, jail)


def _check(row: dict[str, Any], way: str, jail: Jail) -> None:
    tests = [_plain(test) for test in row["tests"]]
    times = {name: test.pop(name) for test in tests for name in ("repeat", "burst", "parallel", "threads") if name in test}
    code = row["model_text"] if "model_text" in row else _plain(row)["code"]
    job = Job(code, tests, limits=_limits(row), extract="model_text" in row)
    if row["right"]["verdict"] == Verdict.INTERNAL_ERROR.value:
        (failed,) = jail.grade_many([job])
        assert (failed.reward, failed.verdict) == (None, Verdict.INTERNAL_ERROR)
        return
    for grade in _repeated(job, times, way, jail):
        said = [(outcome.verdict.value, outcome.reason) for outcome in grade.outcomes]
        if "per_test" in row["right"]:
            assert [verdict for verdict, _ in said] == row["right"]["per_test"], said
        assert grade.verdict.value in _rights(row), said
        assert "reward" not in row["right"] or grade.verdict is not Verdict.PASSED
        assert Grade.from_json(grade.to_json()).verdict is grade.verdict


def _repeated(job: Job, times: dict[str, int], way: str, jail: Jail) -> list[Grade]:
    count = max(times.get(name, 1) for name in ("repeat", "burst", "parallel"))
    jobs = [job] * (count if way == "warm" else min(count, FEW))
    if "threads" in times:
        with ThreadPoolExecutor(times["threads"]) as threads:
            return list(threads.map(lambda _: jail.grade(job.code, job.tests, limits=job.limits), jobs))
    if "burst" in times or "parallel" in times:
        return [future.result() for future in [jail.submit(job.code, job.tests, limits=job.limits) for job in jobs]]
    if count > 1:
        return [jail.grade(job.code, job.tests * len(jobs), limits=job.limits)]
    return [jail.grade(job.code, job.tests, limits=job.limits, extract=job.extract)]


def test_inherited_hard_limits_clamp_what_is_asked_for(policy: Policy) -> None:
    program = """
import resource, sys
resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, 4 << 20))
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
from jailpy import Jail, Limits, Policy
code = "import resource as r; print(r.getrlimit(r.RLIMIT_STACK)[0] >> 20, r.getrlimit(r.RLIMIT_NOFILE)[0])"
for warm in (False, True):
    with Jail(Policy(allow_degraded=frozenset(sys.argv[1:])), workers=1, warm=warm) as jail:
        print(jail.run(code, limits=Limits(open_files=1000, wall_s=100)).stdout.decode(), end="")
"""
    done = subprocess.run(
        [sys.executable, "-c", program, *policy.allow_degraded],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.stdout == "4 256\n4 256\n"


def test_the_size_of_the_host_process_is_no_matter(jail: Jail) -> None:
    with mmap.mmap(-1, 4 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ):
        result = jail.run("import decimal, json\nprint('ok')", limits=Limits(memory_mb=256, wall_s=PATIENCE))
    assert result.stdout == b"ok\n", result


def _literal(row: dict[str, Any]) -> dict[str, Any]:
    made = dict(row)
    for key in [key for key in row if key.endswith("_py")]:
        made[key.removesuffix("_py")] = ast.literal_eval(made.pop(key))
    return made


def _seen(outcomes: tuple[Outcome, ...]) -> list[tuple[Verdict, str]]:
    return [(outcome.verdict, outcome.reason) for outcome in outcomes]


@pytest.mark.parametrize("way", ["warm"], indirect=True)
@pytest.mark.parametrize("row", _rows("problems"))
def test_problem(row: dict[str, Any], jail: Jail) -> None:
    tests = [_literal(test) for test in row["tests"]]
    options: dict[str, Any] = {"limits": Limits(cpu_s=4, wall_s=PATIENCE)}
    right = jail.grade(row["solution"], tests, **options)
    assert right.verdict is Verdict.PASSED, _seen(right.outcomes)
    assert right.reward == 1.0
    if "wrong" in row:
        wrong = jail.grade(row["wrong"], tests, **options, stop_early=True)
        assert wrong.verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT), _seen(wrong.outcomes)
        assert wrong.reward is not None and wrong.reward < 1.0
