"""Every step between the caller and a guest's first instruction is made to fail, one at a time: the error says which it
was, the guest never ran, and nothing is left."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

import pytest

from jailpy import Limits, Policy, SetupError, cold
from jailpy.kernel import launch, probe
from jailpy.kernel.cgroup import Leaf
from jailpy.kernel.launch import Helper
from jailpy.kernel.spec import Fault, LaunchSpec, Stage
from jailpy.lower import Program
from jailpy.roots import Places

ERRNO = errno.ENOSPC
TRACE = "echo ran; echo ran >&2; echo ran >&3"

#: Before the spec is read, so that it cannot ask for a fault; and of jails that a zygote fills.
NEVER_INJECTED = {Stage.NONE, Stage.SPEC, Stage.KEEPER, Stage.JOIN}
#: How many steps of a stage in a row may not exist before the stage counts as done. Rows that mount nothing of the host
#: stand between those that do.
GAP = {Stage.SOURCES: 40, Stage.MOUNTS: 1, Stage.RLIMITS: 1, Stage.SIGNALS: 1}


class Trace:
    """Pipes in place of the guest's streams, so that what it wrote is seen also where the run raises."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.spec: LaunchSpec | None = None
        self.helper: Helper | None = None
        self.readers: list[int] = []
        monkeypatch.setattr(cold, "launch", self._launch)

    def _launch(self, spec: LaunchSpec, streams: tuple[int, int, int, int], leaf: Leaf | None = None) -> Helper:
        self.spec = spec
        pipes = [os.pipe() for _ in range(3)]
        self.readers = [reader for reader, _ in pipes]
        try:
            self.helper = launch.launch(spec, (streams[0], *(writer for _, writer in pipes)), leaf)
            return self.helper
        finally:
            for _, writer in pipes:
                os.close(writer)

    def written(self) -> bytes:
        """All that a guest wrote, with | at the end of each stream: nobody is left who could write more."""
        self._reap()
        found = b""
        for reader in self.readers:
            os.set_blocking(reader, False)
            with contextlib.suppress(BlockingIOError):
                while data := os.read(reader, 4096):
                    found += data
                found += b"|"
            os.close(reader)
        self.readers = []
        return found


    def _reap(self) -> None:
        """A PID 1 whose keeper failed comes to this process, as orphans do here; the library waits for keepers."""
        assert self.helper is not None
        with pytest.raises(ChildProcessError):
            os.waitpid(self.helper.pid, os.WNOHANG)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, 0):
                pass


@pytest.fixture
def trace(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trace]:
    traced = Trace(monkeypatch)
    yield traced
    for reader in traced.readers:
        os.close(reader)


def program(places: Places) -> Program:
    """Leaves a trace by every way out; a shell, since it starts faster than Python."""
    return Program(argv=("/bin/sh", "-c", TRACE), frame_bytes=64)


def run(policy: Policy, fault: Fault | None) -> None:
    cold.run(program, policy, Limits(wall_s=100), fault=fault)


def test_without_a_fault_the_guest_leaves_its_trace(policy: Policy, trace: Trace) -> None:
    run(policy, None)
    assert trace.written() == b"ran\n|ran\n|ran\n|"


@pytest.mark.parametrize("stage", sorted(set(Stage) - NEVER_INJECTED), ids=lambda stage: stage.name)
def test_a_failing_step(stage: Stage, policy: Policy, trace: Trace) -> None:
    hit = []
    misses = index = 0
    while misses < GAP.get(stage, 6):
        try:
            run(policy, Fault(stage, index, ERRNO))
        except SetupError as error:
            assert (error.stage, error.index, error.errno) == (stage.name.lower(), index, ERRNO)
            assert os.strerror(ERRNO) in str(error)
            assert errno.errorcode[ERRNO] in str(error)
            assert trace.written() == b"|||"
            hit.append(index)
            misses = 0
        else:
            assert trace.written() == b"ran\n|ran\n|ran\n|"  # there is no such step, so the run is an ordinary one
            misses += 1
        index += 1
    assert trace.spec is not None
    if stage is Stage.IDS and "separate_uid" in probe.host().missing:
        assert hit == []
        return
    assert hit, f"no step of {stage.name} can fail"
    if stage is Stage.MOUNTS:
        assert hit == list(range(len(trace.spec.mounts)))
    if stage is Stage.RLIMITS:
        assert hit == list(range(len(trace.spec.rlimits)))
    if stage is Stage.LANDLOCK:
        assert hit == list(range(len(trace.spec.landlock) + 2))
    if stage is Stage.SOURCES:
        assert hit == [i for i, op in enumerate(trace.spec.mounts) if op.source.startswith("/") and op.kind == 1]


@pytest.mark.parametrize("code", [errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EMFILE, errno.EPERM])
def test_a_clone_that_fails(code: int, policy: Policy, trace: Trace) -> None:
    with pytest.raises(SetupError, match=errno.errorcode[code]) as caught:
        run(policy, Fault(Stage.CLONE, 0, code))
    assert (caught.value.stage, caught.value.errno) == ("clone", code)
    assert trace.written() == b"|||"


def test_no_guest_is_faster_than_its_pid_1(policy: Policy, trace: Trace) -> None:
    # PID 1 gives up its own privileges while a guest starts; where it cannot, even the quickest guest has not run.
    quick = Program(argv=("/bin/echo", "ran"), frame_bytes=64)
    for _ in range(40):
        with pytest.raises(SetupError):
            cold.run(lambda places: quick, policy, Limits(), fault=Fault(Stage.DROP_INIT, 0, ERRNO))
        assert trace.written() == b"|||"


def test_a_program_that_does_not_exist(policy: Policy) -> None:
    with pytest.raises(SetupError, match="the program or its loader is not in the jail's root") as caught:
        cold.run(lambda places: Program(argv=("/bin/no-such-program",)), policy, Limits())
    assert (caught.value.stage, caught.value.errno) == ("exec", errno.ENOENT)


def test_a_program_that_is_not_executable(policy: Policy) -> None:
    with pytest.raises(SetupError) as caught:
        cold.run(lambda places: Program(argv=("/etc/passwd",)), policy, Limits())
    assert (caught.value.stage, caught.value.errno) == ("exec", errno.EACCES)


def test_every_stage_has_words() -> None:
    assert set(Stage) - set(launch._WORDS) == {Stage.NONE}
