"""Tries every layer of isolation on this host and says what held. Nothing is read from a version number: guests try
what is forbidden, and what they and this process see is compared."""

from __future__ import annotations

import concurrent.futures
import contextlib
import enum
import functools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from jailpy.doctor_checks import CHECKS, FORK_LIMITS, MEMORY_LIMITS, PROBE_LIMITS, Seen, Sighting, Sleeper, stand_in
from jailpy.errors import InfrastructureError
from jailpy.jail import Jail
from jailpy.kernel.probe import Host, host
from jailpy.limits import Limits
from jailpy.policy import DEGRADABLE, EXTRAS, LAYERS, Policy
from jailpy.status import Result

PROBE = Path(__file__).with_name("doctor_probe.py")
_TAKE_MEMORY = "held = []\nfor _ in range(1024):\n    held.append(bytearray(b'x') * (1 << 20))\n"
# It stays for as long as a limit that is only looked at now and then needs to see all of them.
_FORK_BOMB = (
    "import os, time\ncount = 0\ntry:\n    while count < 1000:\n        if os.fork() == 0:\n"
    "            time.sleep(60)\n        count += 1\nexcept OSError:\n    pass\n"
    "print(count, flush=True)\ntime.sleep(0.5)\n"
)
# A grandchild in a session of its own, which only something around all of them can find.
_SLEEPER = (
    "import json, os, time\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\n    time.sleep(60)\n"
    "print(json.dumps([os.readlink('/proc/self/ns/pid'), os.getpid()]), flush=True)\ntime.sleep(60)\n"
)


class State(enum.Enum):
    """What became of a layer: it holds; the host cannot give it; it should hold and does not."""

    OK = "OK"
    MISSING = "MISSING"
    BROKEN = "BROKEN"


@dataclass(frozen=True, slots=True)
class Finding:
    """One layer: its state, what was seen, and for a missing one why and the change that gives it."""

    layer: str
    state: State
    evidence: str
    why: str = ""
    fix: str = ""

    def lines(self) -> list[str]:
        """The layer's line, and one more for a missing layer."""
        said = "; ".join(part for part in (self.why, self.evidence) if part)
        shown = [f"{self.layer:<18} {self.state.value:<8} {said}"]
        return [*shown, f"{'':<18} to have it: {self.fix}"] if self.fix else shown


@dataclass(frozen=True, slots=True)
class Report:
    """Every layer in the order of LAYERS, and the host in a few words. `failure` says why no jail could be made."""

    host: dict[str, str]
    findings: tuple[Finding, ...]
    failure: str = ""

    @property
    def exit_status(self) -> int:
        """0 when all layers hold, 1 when some are missing, 2 when one that should hold does not. Layers that no policy
        demands (EXTRAS) do not count when they are missing."""
        return 2 if self._in(State.BROKEN) else 1 if set(self._in(State.MISSING)) - EXTRAS else 0

    def lines(self) -> list[str]:
        """The report for a person."""
        shown = [f"{name:<18} {value}" for name, value in self.host.items()]
        shown.append("")
        shown += [line for finding in self.findings for line in finding.lines()]
        return [*shown, "", self._conclusion()]

    def to_json(self) -> str:
        """The report as one JSON object."""
        layers = [{**asdict(finding), "state": finding.state.value} for finding in self.findings]
        return json.dumps(
            {"host": self.host, "layers": layers, "failure": self.failure, "exit_status": self.exit_status}
        )

    def _in(self, state: State) -> list[str]:
        return [finding.layer for finding in self.findings if finding.state is state]

    def _conclusion(self) -> str:
        demanded = [layer for layer in self._in(State.MISSING) if layer not in EXTRAS]
        if self.failure:
            return f"Do not rely on this host: {self.failure}"
        if broken := self._in(State.BROKEN):
            return f"Do not run untrusted programs here: {', '.join(broken)} should hold and does not."
        if demanded:
            return f"To run without what is missing: JAILPY_ALLOW_DEGRADED={','.join(demanded)}"
        return "Every layer that a policy can demand holds."


def examine() -> Report:
    """Runs the probes, which takes a few seconds, and judges every layer."""
    here = host()
    policy = Policy(allow_degraded=DEGRADABLE)
    seen: dict[str, Seen] = {}
    failures = []
    for way, warm in (("warm", True), ("cold", False)):
        try:
            seen[way] = _gather(policy, here, warm)
        except InfrastructureError as error:
            failures.append(f"no {way} jail could be made: {error}")
    failure = "; ".join(failures)
    return Report(_describe(here), tuple(_judge(layer, here, seen, failure) for layer in LAYERS), failure)


def _describe(here: Host) -> dict[str, str]:
    place = here.cgroup
    groups = f"{place.path} ({', '.join(sorted(place.controllers)) or 'no controllers'})" if place else "none"
    gib = psutil.virtual_memory().total / (1 << 30)
    return {
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_version()} ({sys.executable})",
        "user": f"uid {os.geteuid()}",
        "cgroup home": groups,
        "landlock abi": str(here.landlock_abi) if here.landlock_abi else "none",
        "cpus": f"{len(os.sched_getaffinity(0))} of {psutil.cpu_count()}",
        "memory": f"{gib:.1f} GiB",
    }


def _gather(policy: Policy, here: Host, warm: bool) -> Seen:
    with Jail(policy, PROBE_LIMITS, workers=2, warm=warm) as jail:
        begun = time.monotonic()
        inside = _facts_inside(jail)
        # Long enough for a guest to start and speak, on slow hosts too.
        sleep = Limits(cpu_s=60, wall_s=1 + 3 * (time.monotonic() - begun))
        memory = jail.run(_TAKE_MEMORY, limits=MEMORY_LIMITS)
        forks = jail.run(_FORK_BOMB, limits=FORK_LIMITS)
        sleepers = _run_sleepers(jail, sleep)
    return Seen(here, inside, _facts_outside(), memory, forks, sleepers)


def _facts_inside(jail: Jail) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="jailpy-doctor-") as folder:
        Path(folder, "file").touch()
        Path(folder).chmod(0o777)  # so that no file mode is what refuses the guest
        result = jail.run(PROBE.read_bytes(), json.dumps({"sentinel": folder}))
    return _answer(result.stdout, f"{result.describe()}, {result.stderr[-300:].decode('utf-8', 'replace')}")


def _facts_outside() -> dict[str, Any]:
    command = [sys.executable, "-I", "-S", str(PROBE), "outside"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    return _answer(done.stdout, done.stderr[-300:].decode("utf-8", "replace"))


def _answer(stdout: bytes, otherwise: str) -> dict[str, Any]:
    try:
        facts = json.loads(stdout)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise InfrastructureError(f"the probe did not answer: {' '.join(otherwise.split())}")
    return facts


def _run_sleepers(jail: Jail, limits: Limits) -> tuple[Sleeper, ...]:
    """Two guests at once that sleep until they are killed, and how their processes looked from here meanwhile."""
    seen: dict[int, Sighting] = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = [pool.submit(jail.run, _SLEEPER, limits=limits) for _ in range(2)]
        while not all(future.done() for future in running):
            seen.update(_processes())
            concurrent.futures.wait(running, 0.02)
        results = [future.result() for future in running]
    left = dict(_processes())
    return tuple(_sleeper(result, seen, left) for result in results)


def _sleeper(result: Result, seen: dict[int, Sighting], left: dict[int, Sighting]) -> Sleeper:
    link, pid = "", 0
    with contextlib.suppress(ValueError, TypeError):
        link, pid = json.loads(result.stdout)
    mine = {at: process for at, process in seen.items() if link and process.pid_namespace == link}
    guest = next((process for process in mine.values() if process.pid_inside == pid), None)
    return Sleeper(result, guest, len(mine), sum(left.get(at) == process for at, process in mine.items()))


def _processes() -> Iterator[tuple[int, Sighting]]:
    """Every process that this one may look at."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, KeyError, IndexError, ValueError):
                yield int(name), _sight(f"/proc/{name}")


def _sight(folder: str) -> Sighting:
    fields = {key: value.split() for key, _, value in (line.partition(":") for line in _lines(f"{folder}/status"))}
    group = next((line[3:] for line in _lines(f"{folder}/cgroup") if line.startswith("0::")), "")
    maps = tuple(tuple(map(int, line.split())) for line in _lines(f"{folder}/uid_map"))
    inside = int(fields["NSpid"][-1])
    return Sighting(os.readlink(f"{folder}/ns/pid"), inside, int(fields["Uid"][0]), group, maps)


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def _judge(layer: str, here: Host, seen: dict[str, Seen], failure: str) -> Finding:
    """A layer has to hold in jails that are made ahead and in those that are made while the caller waits."""
    lack = here.missing.get(layer)
    check = CHECKS[layer] if lack is None else functools.partial(stand_in, layer)
    results = {way: check(facts) for way, facts in seen.items()}
    broken = [f"{way} jail: {evidence}" for way, (holds, evidence) in results.items() if not holds]
    evidence = next((evidence for _, evidence in results.values()), "")
    if lack is None and failure:
        held = " and ".join(way for way, (holds, _) in results.items() if holds)
        broken.append(f"that it holds in a {held} jail only" if held else "no jail to try it in")
    said = f"saw {'; '.join(broken)}" if broken else evidence
    if lack is None:
        return Finding(layer, State.BROKEN if broken else State.OK, said)
    return Finding(layer, State.BROKEN if broken else State.MISSING, said, lack.why, lack.fix)
