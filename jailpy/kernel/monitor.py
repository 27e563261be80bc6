"""Watches one running jail from outside: drains its output, keeps its deadlines, kills it, says what was seen.

Everything here is a fact of the kernel or a count of our own. What the facts mean is decided in `classify`.
"""

from __future__ import annotations

import contextlib
import enum
import os
import select
import signal
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from jailpy.errors import HelperLost
from jailpy.kernel import memory
from jailpy.kernel.cgroup import Leaf
from jailpy.kernel.link import Talk
from jailpy.kernel.spec import Report, ReportKind
from jailpy.limits import Limits

_CHUNK = 1 << 16
_SAMPLE_SECONDS = 0.01
_CPU_CHECK_MIN, _CPU_CHECK_MAX = 0.002, 0.5
#: A jail that was killed is given up when its end is not heard of for so long: whoever should tell is stopped or stuck.
LAST_SECONDS = 60.0
#: Wall time in which the jail was starved of CPU by others does not count, up to this multiple of the limit.
STARVATION_CAP = 64.0


class Fired(enum.Enum):
    """Which limit ended the jail; NONE when it ended by itself."""

    NONE = "none"
    CPU = "cpu"
    WALL = "wall"
    MEMORY = "memory"
    OUTPUT = "output"
    PROCESSES = "processes"
    CUT = "cut"  # no limit: whom it talked to has ended and needs it no more


@dataclass(slots=True)
class Facts:
    """What was seen of one run. `wait_status` is the guest's, None where it died with its whole jail. `let_go`: by our
    word, as it was no longer needed."""

    fired: Fired = Fired.NONE
    wait_status: int | None = None
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    frame: bytearray = field(default_factory=bytearray)
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_peak: int = 0
    memory_source: str = "rusage"
    oom_kills: int = 0
    fork_refusals: int = 0
    disk_full: bool = False
    let_go: bool = False


def close_all(fds: Iterable[int]) -> None:
    """Closes descriptors; -1 stands for none."""
    for fd in fds:
        if fd >= 0:
            os.close(fd)


@dataclass(slots=True)
class Crossing:
    """What ties a run to that of another jail.

    fd       an end of their connection, which goes to the guest with its request; closed here once it is on its way
    let_go   when this is readable, the jail is no longer needed and is ended; -1: never
    """

    fd: int
    let_go: int = -1

    def close(self) -> None:
        """Closes our copy of the descriptor."""
        fd, self.fd = self.fd, -1
        close_all((fd,))


@dataclass(slots=True)
class Streams:
    """Our ends of the guest's streams: non-blocking descriptors, owned and closed by the watch. -1: none.

    `talk`: stdin goes on after `input` with what another guest says, until that one's end.
    """

    stdin: int
    stdout: int
    stderr: int
    channel: int = -1
    input: bytes = b""
    request: bytes = b""
    frame_bytes: int = 0
    crossing: Crossing | None = None
    talk: Talk | None = None

    def close(self) -> None:
        """Closes what is open."""
        close_all((self.stdin, self.stdout, self.stderr, self.channel))
        self.stdin = self.stdout = self.stderr = self.channel = -1


def guest_pipes() -> tuple[Streams, tuple[int, int, int]]:
    """Pipes for the standard streams: our non-blocking ends, and the guest's. Whoever holds a pipe may open it anew, as
    /dev/stdin does, though it was made by another user."""
    with contextlib.ExitStack() as undo:
        pairs = [_pipe(undo) for _ in range(3)]
        (stdin_guest, stdin), (stdout, stdout_guest), (stderr, stderr_guest) = pairs
        for ours, theirs in ((stdin, stdin_guest), (stdout, stdout_guest), (stderr, stderr_guest)):
            os.set_blocking(ours, False)
            os.fchmod(theirs, 0o666)
        undo.pop_all()
    return Streams(stdin, stdout, stderr), (stdin_guest, stdout_guest, stderr_guest)


def _pipe(undo: contextlib.ExitStack) -> tuple[int, int]:
    reader, writer = os.pipe()
    undo.callback(os.close, reader)
    undo.callback(os.close, writer)
    return reader, writer


def channel(streams: Streams) -> int:
    """Opens the socket for requests and frames: ours into `streams`, the guest's as the result."""
    ours, theirs = (end.detach() for end in socket.socketpair())
    os.set_blocking(ours, False)
    streams.channel = ours
    return theirs


class Source(Protocol):
    """Where a jail's end is heard of: readable when there are reports, and able to kill. `beside` is how many processes
    of ours are in the jail, `holder_pid` the one that shares the guest's memory, or 0."""

    beside: int
    holder_pid: int

    def fileno(self) -> int: ...
    def reports(self) -> list[Report]: ...
    def kill(self) -> None: ...


def watch(source: Source, leaf: Leaf | None, limits: Limits, streams: Streams, init_pid: int) -> Facts:
    """Until the jail is empty. Kills it when a limit fires; HelperLost when jailpy-init ends without a word."""
    return _Watch(source, leaf, limits, streams, init_pid).run()


def _begun(streams: Streams) -> memoryview:
    """What is left to write of the request once the descriptor that goes with it is on the way."""
    if streams.crossing is None:
        return memoryview(streams.request)
    with socket.socket(fileno=os.dup(streams.channel)) as channel:
        sent = socket.send_fds(channel, [streams.request[:8]], [streams.crossing.fd])
    streams.crossing.close()
    return memoryview(streams.request)[sent:]


class _Watch:
    def __init__(self, source: Source, leaf: Leaf | None, limits: Limits, streams: Streams, init_pid: int) -> None:
        self.source = source
        self.leaf = leaf
        self.limits = limits
        self.streams = streams
        self.init_pid = init_pid
        self.facts = Facts()
        self.poll = select.poll()
        self.begun = time.monotonic()
        self.cpu_begun = leaf.cpu_us() if leaf else 0
        self.oom_kills_begun = leaf.oom_kills() if leaf else 0
        self.fork_refusals_begun = leaf.fork_refusals() if leaf else 0
        self.starved_begun = leaf.starved_us() if leaf else 0
        self.next_sample = self.begun + _SAMPLE_SECONDS / 2
        self.next_cpu_check = self.begun + min(limits.cpu_s / (os.cpu_count() or 1), _CPU_CHECK_MAX)
        controllers = leaf.home.controllers if leaf else frozenset()
        self.sampling = not {"memory", "pids"} <= controllers
        self.samples_memory = "memory" not in controllers
        self.samples_tasks = "pids" not in controllers
        self.talk = streams.talk
        self.wall_begun = float("inf") if self.talk and self.talk.leads else self.begun
        self.wall_allowed = limits.wall_s
        self.beside = source.beside
        self.gone = False
        self.give_up_at = float("inf")
        self.pids_events = -1
        self.let_go = streams.crossing.let_go if streams.crossing else -1
        self.written = {streams.stdin: memoryview(streams.input), streams.channel: _begun(streams)}

    def run(self) -> Facts:
        try:
            self._register()
            while not self.gone:
                for fd, events in self.poll.poll(self._timeout() * 1000):
                    self._handle(fd, events)
                if not self.gone:
                    self._check_limits()
            self._drain()
            self._measure()
        finally:
            self.streams.close()
            if self.talk and not self.talk.leads:
                self.talk.says.end()
            if self.pids_events >= 0:
                os.close(self.pids_events)
        return self.facts

    def _register(self) -> None:
        streams = self.streams
        self.poll.register(self.source.fileno(), select.POLLIN)
        for fd in (streams.stdout, streams.stderr):
            self.poll.register(fd, select.POLLIN)
        for fd in (streams.channel, streams.stdin):
            if fd >= 0:
                self._feed(fd)
        if self.let_go >= 0:
            self.poll.register(self.let_go, select.POLLIN)
        if self.talk:
            self.poll.register(self.talk.hears.wake, select.POLLIN)
        if self.leaf and not self.samples_tasks:
            self.pids_events = os.open("pids.events", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.leaf.fd)
            os.read(self.pids_events, 64)  # a change is one since the last read
            self.poll.register(self.pids_events, select.POLLPRI)

    def _timeout(self) -> float:
        now = time.monotonic()
        due = min(self.wall_begun + self.wall_allowed, self.next_cpu_check, self.give_up_at)
        if self.sampling:
            due = min(due, self.next_sample)
        return max(0.0, due - now) + 0.0005  # poll counts whole milliseconds and must not wake before the deadline

    def _handle(self, fd: int, events: int) -> None:
        streams = self.streams
        if fd == self.source.fileno():
            self._report()
        elif fd == self.pids_events:
            self._kill(Fired.PROCESSES)
            self.poll.unregister(fd)
        elif fd == self.let_go:
            self._let_go()
        elif self.talk and fd == self.talk.hears.wake:
            self._hear(self.talk)
        elif fd == streams.stdin or (fd == streams.channel and events & select.POLLOUT):
            self._feed(fd)
        elif fd in (streams.stdout, streams.stderr, streams.channel):
            self._read(fd)

    def _let_go(self) -> None:
        self.poll.unregister(self.let_go)
        if self.facts.fired is Fired.NONE:
            self.facts.let_go = True
            self._end()

    def _report(self) -> None:
        for report in self.source.reports():
            if report.kind is ReportKind.EXITED:
                self.facts.wait_status = report.wait_status
                self.facts.disk_full = bool(report.disk_full)
                if self.leaf is None:  # counted from the process's birth, so with what its confinement took
                    self.facts.cpu_s = max(self.facts.cpu_s, report.cpu_us / 1e6)
                self.facts.memory_peak = max(self.facts.memory_peak, report.maxrss_kb << 10)
            self.gone = report.kind is ReportKind.GONE

    def _hear(self, talk: Talk) -> None:
        """The other guest said something, or ended."""
        talk.hears.calm()
        if talk.hears.is_cut:
            self._kill(Fired.CUT)
        if talk.hears.ended:
            self.wall_begun = min(self.wall_begun, time.monotonic())
        if self.streams.stdin >= 0 and not self.written[self.streams.stdin]:
            self._feed(self.streams.stdin)

    def _more(self, fd: int) -> memoryview | None:
        """What is written next: None when that was all, nothing when the other guest has yet to say it."""
        if not self.talk or fd != self.streams.stdin:
            return None
        words, ended = self.talk.hears.take()
        return None if ended and not words else memoryview(words)

    def _feed(self, fd: int) -> None:
        """Writes what fits. A guest that does not read its input, or closes it, is within its rights."""
        rest: memoryview | None = self.written[fd]
        try:
            while rest or (rest := self._more(fd)):
                rest = rest[os.write(fd, rest[: 1 << 20]) :]
        except BlockingIOError:
            assert rest is not None
            self.written[fd] = rest
            self.poll.register(fd, select.POLLOUT | (select.POLLIN if fd == self.streams.channel else 0))
            return
        except (BrokenPipeError, ConnectionResetError):
            rest = None
        self.written[fd] = memoryview(b"")
        if fd == self.streams.channel:
            self.poll.register(fd, select.POLLIN)
            return
        with contextlib.suppress(KeyError):
            self.poll.unregister(fd)
        if rest is None:
            os.close(fd)
            self.streams.stdin = -1

    def _read(self, fd: int) -> bool:
        """One chunk into its place; past the cap it is counted and dropped. False at the end of the stream."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            data = b""
        if not data:
            with contextlib.suppress(KeyError):
                self.poll.unregister(fd)
            if self.talk and not self.talk.leads and fd == self.streams.stdout:
                self.talk.says.end()
            return False
        facts, streams = self.facts, self.streams
        if fd == streams.channel:
            facts.frame += data[: streams.frame_bytes + 1 - len(facts.frame)]
            return True
        room = self.limits.output_bytes - len(facts.stdout) - len(facts.stderr)
        (facts.stdout if fd == streams.stdout else facts.stderr).extend(data[:room])
        if self.talk and fd == streams.stdout:
            self.talk.says.put(data[:room])
        if len(data) > room:
            self._kill(Fired.OUTPUT)
        return True

    def _drain(self) -> None:
        """All writers are dead, so what the pipes hold is all that will ever come."""
        for fd in (self.streams.stdout, self.streams.stderr, self.streams.channel):
            while fd >= 0 and self._read(fd):
                pass

    def _check_limits(self) -> None:
        now = time.monotonic()
        if now >= self.give_up_at:
            raise HelperLost(f"the jail was killed {LAST_SECONDS:.0f} s ago, and jailpy-init has not said that it is gone")
        if now >= self.next_cpu_check:
            self._check_cpu(now)
        if now >= self.wall_begun + self.wall_allowed:
            self._check_wall(now)
        if self.sampling and now >= self.next_sample and self.facts.fired is Fired.NONE:
            self._sample()
            self.next_sample = time.monotonic() + _SAMPLE_SECONDS

    def _used_cpu(self) -> float:
        if self.leaf:
            return (self.leaf.cpu_us() - self.cpu_begun) / 1e6
        return memory.cpu_us(memory.processes(self.init_pid, None)) / 1e6

    def _check_cpu(self, now: float) -> None:
        self.facts.cpu_s = max(self.facts.cpu_s, self._used_cpu())  # who has ended is no longer counted
        left = self.limits.cpu_s - self.facts.cpu_s
        if left <= 0:
            self._kill(Fired.CPU)
        # The soonest that the rest can be used up is on every CPU at once.
        wait = left / (os.cpu_count() or 1)
        self.next_sample = self.begun + _SAMPLE_SECONDS / 2
        self.next_cpu_check = now + min(max(wait, _CPU_CHECK_MIN), _CPU_CHECK_MAX)

    def _check_wall(self, now: float) -> None:
        starved = (self.leaf.starved_us() - self.starved_begun) / 1e6 if self.leaf else 0.0
        allowed = min(self.limits.wall_s + starved, self.limits.wall_s * STARVATION_CAP)
        if now >= self.wall_begun + allowed:
            self._kill(Fired.WALL)
            allowed = float("inf")
        self.wall_allowed = allowed

    def _sample(self) -> None:
        pids = memory.processes(self.init_pid, self.leaf)
        if self.samples_memory:
            used = memory.without_twin(pids, self.source.holder_pid)
            resident = memory.resident(used)
            if resident > self.limits.memory_bytes:
                resident = memory.proportional(used)
            if resident > self.facts.memory_peak:
                self.facts.memory_peak, self.facts.memory_source = resident, "sampled"
            if resident > self.limits.memory_bytes:
                self._kill(Fired.MEMORY)
        if self.samples_tasks and len(pids) and memory.tasks(pids) - self.beside > self.limits.processes:
            self._kill(Fired.PROCESSES)

    def _kill(self, why: Fired) -> None:
        """The first limit that fires is the reason; the keeper does the killing."""
        if self.facts.fired is Fired.NONE:
            self.facts.fired = why
            self._end()

    def _end(self) -> None:
        self.source.kill()
        self.give_up_at = min(self.give_up_at, time.monotonic() + LAST_SECONDS)

    def _measure(self) -> None:
        facts = self.facts
        facts.wall_s = time.monotonic() - self.begun
        if self.leaf:
            facts.cpu_s = (self.leaf.cpu_us() - self.cpu_begun) / 1e6
            facts.oom_kills = self.leaf.oom_kills() - self.oom_kills_begun
            facts.fork_refusals = self.leaf.fork_refusals() - self.fork_refusals_begun
            peak = self.leaf.memory_peak()
            if peak is not None:
                facts.memory_peak, facts.memory_source = peak, "cgroup"
        if facts.fired is Fired.CUT and facts.wait_status not in (None, signal.SIGKILL):
            facts.fired = Fired.NONE  # it had ended by itself before the kill reached it
        if self.talk:
            self.talk.hears.killed = facts.fired is Fired.CUT
        # The jail may have gone over its CPU limit and ended by itself between two looks.
        if facts.fired is Fired.NONE and facts.cpu_s > self.limits.cpu_s:
            facts.fired = Fired.CPU
