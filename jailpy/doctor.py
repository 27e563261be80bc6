"""Tries every layer of isolation on this host and says what held. Nothing is read from a version number: guests try
what is forbidden, and what they and this process see is compared."""

from __future__ import annotations

import concurrent.futures
import contextlib
import enum
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

from jailpy.doctor_checks import CHECKS, FORK_LIMITS, MEMORY_LIMITS, PROBE_LIMITS, Seen, sleeper_answer, stand_in
from jailpy.errors import InfrastructureError
from jailpy.jail import Jail
from jailpy.kernel.probe import Host, host
from jailpy.limits import Limits
from jailpy.policy import DEGRADABLE, EXTRAS, LAYERS, Policy
from jailpy.status import Result

PROBE = Path(__file__).with_name("doctor_probe.py")
_SLEEP = Limits(cpu_s=10, wall_s=0.5)
_TAKE_MEMORY = "held = []\nfor _ in range(1024):\n    held.append(bytearray(b'x') * (1 << 20))\n"
_FORK_BOMB = (
    "import os, time\ncount = 0\ntry:\n    while count < 1000:\n        if os.fork() == 0:\n"
    "            time.sleep(60)\n        count += 1\nexcept OSError:\n    pass\nprint(count, flush=True)\ntime.sleep(0.5)\n"
)
# A grandchild in a session of its own, which only something around all of them can find.
_SLEEPER = (
    "import json, os, time\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\n    time.sleep(60)\n"
    "maps = [[int(part) for part in line.split()] for line in open('/proc/self/uid_map')]\n"
    "print(json.dumps([os.readlink('/proc/self/ns/pid'), maps, os.getuid()]), flush=True)\ntime.sleep(60)\n"
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
            return f"Nothing runs here: {self.failure}"
        if broken := self._in(State.BROKEN):
            return f"Do not run untrusted programs here: {', '.join(broken)} should hold and does not."
        if demanded:
            return f"To run without what is missing: JAILPY_ALLOW_DEGRADED={','.join(demanded)}"
        return "Every layer that a policy can demand holds."


def examine() -> Report:
    """Runs the probes, which takes a few seconds, and judges every layer."""
    here = host()
    policy = Policy(allow_degraded=DEGRADABLE)
    seen, failure = None, ""
    try:
        seen = _gather(policy, here)
    except InfrastructureError as error:
        failure = f"no jail could be made: {error}"
    return Report(_describe(here), tuple(_judge(layer, here, seen) for layer in LAYERS), failure)


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


def _gather(policy: Policy, here: Host) -> Seen:
    with Jail(policy, PROBE_LIMITS, workers=1) as jail:
        inside = _facts_inside(jail)
        memory = jail.run(_TAKE_MEMORY, limits=MEMORY_LIMITS)
        forks = jail.run(_FORK_BOMB, limits=FORK_LIMITS)
        sleeper, leaf = _run_sleeper(jail, here)
    return Seen(here, inside, _facts_outside(), memory, forks, sleeper, leaf)


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


def _run_sleeper(jail: Jail, here: Host) -> tuple[Result, str]:
    """A guest that sleeps until it is killed, and the leaf that held it ("" for none, or one that outlived it)."""
    members: dict[str, set[str]] = {}
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(jail.run, _SLEEPER, limits=_SLEEP)
        while not running.done():
            for leaf, pid in _members(here):
                members.setdefault(leaf, set()).add(_link(f"/proc/{pid}/ns/pid"))
            time.sleep(0.01)
        result = running.result()
    guest = sleeper_answer(result)[0]
    left = {leaf for leaf, _ in _members(here)}
    found = [leaf for leaf, links in members.items() if guest and guest in links and leaf not in left]
    return result, found[0] if found else ""


def _members(here: Host) -> Iterator[tuple[str, int]]:
    """(leaf, process) of all jails of this process."""
    if here.cgroup is None:
        return
    for entry in os.scandir(here.cgroup.path):
        if entry.is_dir():
            with contextlib.suppress(OSError), open(f"{entry.path}/cgroup.procs", encoding="ascii") as file:
                yield from ((entry.name, int(pid)) for pid in file.read().split())


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _judge(layer: str, here: Host, seen: Seen | None) -> Finding:
    lack = here.missing.get(layer)
    if lack is not None:
        holds, evidence = stand_in(layer, seen)
        state = State.MISSING if holds else State.BROKEN
        return Finding(layer, state, evidence, lack.why, lack.fix)
    if seen is None:
        return Finding(layer, State.BROKEN, "no jail could be made to try it")
    holds, evidence = CHECKS[layer](seen)
    return Finding(layer, State.OK, evidence) if holds else Finding(layer, State.BROKEN, f"saw {evidence}")
