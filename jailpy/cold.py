"""A jail made for one program, from nothing, while the caller waits."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator

from jailpy import languages, roots
from jailpy.classify import classify
from jailpy.errors import InfrastructureError
from jailpy.guest.driver import CROSSING, NEEDS_CROSSING
from jailpy.kernel import cgroup
from jailpy.kernel.launch import Helper, launch
from jailpy.kernel.link import Talk
from jailpy.kernel.monitor import Crossing, Facts, Streams, channel, close_all, guest_pipes, watch
from jailpy.kernel.namespaces import choose_ids
from jailpy.kernel.probe import Host, host
from jailpy.kernel.spec import Fault
from jailpy.limits import Limits
from jailpy.lower import Program, enforced, lower
from jailpy.policy import Policy
from jailpy.programs import Task
from jailpy.roots import File, Places
from jailpy.status import Result, Status, Usage

_leaf_numbers = itertools.count(1)


def run(
    program_at: Callable[[Places], Program],
    policy: Policy,
    limits: Limits,
    *,
    crossing: Crossing | None = None,
    talk: Talk | None = None,
    fault: Fault | None = None,
) -> Result:
    """Runs a program in a jail of its own and waits for its end. InfrastructureError where it could not be judged.

    `program_at` makes the program once it is known where things are for the guest; `talk`: whom it talks to."""
    here = host()
    layers = enforced(policy, here)
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        leaf = _leaf(here, limits, stack)
        ids = choose_ids("user_namespace" in here.namespaces)
        places = roots.INSIDE if "root" not in here.missing else roots.outside(_host_folder(stack))
        program = program_at(places)
        if places is not roots.INSIDE:
            _place_files(places.work, program.files, ids.guest)
        spec = lower(program, policy, limits, here, ids, places, leaf.name if leaf else "", fault)
        streams, theirs = _streams(program)
        streams.crossing, streams.talk = crossing, talk
        stack.callback(streams.close)
        try:
            helper = launch(spec, theirs, leaf)
        finally:
            close_all(theirs)
        stack.callback(helper.close)
        helper.wait_started()
        ready = time.monotonic()
        facts = watch(helper, leaf, limits, streams, _init_pid(helper))
    return result(facts, layers, {"set_up": ready - begun, "clean_up": time.monotonic() - ready - facts.wall_s})


def run_python(
    task: Task,
    policy: Policy,
    limits: Limits,
    *,
    crossing: Crossing | None = None,
    talk: Talk | None = None,
    fault: Fault | None = None,
) -> Result:
    """Runs a Python task through the driver, in an interpreter of its own."""

    def program(places: Places) -> Program:
        return Program(
            argv=(
                languages.interpreter(policy).executable,
                f"{places.driver}/driver.py",
                *([CROSSING] if crossing or task.mode in NEEDS_CROSSING else []),
            ),
            files=(*task.files, File(task.name, task.code)),
            stdin=task.stdin,
            request=task.request(places.work),
            frame_bytes=task.frame_bytes + 64,
        )

    return run(program, policy, limits, crossing=crossing, talk=talk, fault=fault)


def result(facts: Facts, layers: dict[str, str], stages: dict[str, float]) -> Result:
    """Facts as a Result. InfrastructureError where they do not say how the guest ended."""
    status, code, sig = classify(facts)
    if status is Status.INTERNAL_ERROR:
        raise InfrastructureError("the jail ended from outside: its guest was killed by nobody that jailpy knows")
    return Result(
        status,
        code,
        sig,
        bytes(facts.stdout),
        bytes(facts.stderr),
        Usage(facts.wall_s, facts.cpu_s, facts.memory_peak, facts.memory_source, stages),
        layers,
        bytes(facts.frame),
    )


def _leaf(here: Host, limits: Limits, stack: contextlib.ExitStack) -> cgroup.Leaf | None:
    if here.cgroup is None:
        return None
    leaf = cgroup.Leaf.make(here.cgroup, f"jail-{next(_leaf_numbers)}")
    # The keeper removes the leaf; this is for a keeper that was never started, or was killed.
    stack.callback(leaf.remove)
    leaf.limit(limits.memory_bytes, limits.processes)
    return leaf


def _host_folder(stack: contextlib.ExitStack) -> str:
    folder = tempfile.mkdtemp(prefix="jailpy-")
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _place_files(folder: str, files: tuple[File, ...], owner: int) -> None:
    for file in files:
        path = os.path.join(folder, file.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(file.content)
    for parent, _, names in os.walk(folder):
        for path in (parent, *(os.path.join(parent, name) for name in names)):
            os.chown(path, owner, -1, follow_symlinks=False)


def _streams(program: Program) -> tuple[Streams, tuple[int, int, int, int]]:
    """Our ends, and the guest's: pipes for the standard streams, a socket for requests and frames."""
    streams, theirs = guest_pipes()
    streams.input, streams.request, streams.frame_bytes = program.stdin, program.request, program.frame_bytes
    if not program.frame_bytes:
        return streams, (*theirs, -1)
    try:
        return streams, (*theirs, channel(streams))
    except OSError:
        streams.close()
        close_all(theirs)
        raise


def _init_pid(helper: Helper) -> int:
    """PID 1 of the jail as the host sees it: the keeper's one child. 0 where the host hides it."""
    for pid in _children(helper.pid):
        return pid
    return 0


def _children(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        yield from map(int, file.read().split())
