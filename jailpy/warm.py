"""A zygote, the jails that it parks, and the one run of each. What a caller waits for is a message, not a fork."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import resource
import select
import signal
import socket
import time
from dataclasses import dataclass, replace
from typing import Any

from jailpy.cold import result
from jailpy.errors import HelperLost, InfrastructureError
from jailpy.guest import values
from jailpy.kernel import cgroup, rlimits
from jailpy.kernel.launch import SETUP_SECONDS, Helper, explain, launch
from jailpy.kernel.link import Talk
from jailpy.kernel.monitor import Crossing, Streams, channel, close_all, guest_pipes, watch
from jailpy.kernel.namespaces import NEW, choose_zygote_ids, jail_map
from jailpy.kernel.probe import Host
from jailpy.kernel.spec import REPORT, Report, ReportKind, Stage, decode_report, encode
from jailpy.limits import Limits
from jailpy.lower import ZygoteSpecs, lower_zygote
from jailpy.policy import Policy
from jailpy.programs import Task
from jailpy.roots import INSIDE, File
from jailpy.status import Result

_leaf_numbers = itertools.count(1)


def possible(host: Host) -> bool:
    """Warm jails need every namespace, for a zygote's child joins one ready-made, and a leaf: without it a jail's
    processes are found below its PID 1, where the guest of a zygote is not."""
    return not any(layer in host.missing for layer in ("root", "proc", "cgroup", *NEW))


@dataclass(slots=True)
class Slot:
    """What outlives a jail: its number (with which the zygote keeps an empty network namespace) and an empty leaf."""

    number: int
    leaf: cgroup.Leaf | None = None
    limited: tuple[int, int] | None = None

    def ready(self, place: cgroup.Home | None, owner: int) -> None:
        """Makes the leaf where there is none yet."""
        if place is not None and self.leaf is None:
            self.leaf = cgroup.Leaf.make(place, f"slot-{self.number}-{next(_leaf_numbers)}")
            self.leaf.let_in(owner)
            self.limited = None

    def limit(self, limits: Limits) -> None:
        """Sets the leaf's limits, where they differ from those of the run before."""
        wanted = limits.memory_bytes, limits.processes
        if self.leaf is not None and self.limited != wanted:
            self.leaf.limit(*wanted, beside=2)
            self.limited = wanted

    def retire(self) -> None:
        """Gives up the leaf."""
        leaf, self.leaf = self.leaf, None
        if leaf is not None:
            _remove(leaf)


@dataclass(slots=True)
class Ordered:
    """A jail on its way: our ends of its streams, and where its end will be heard of."""

    slot: Slot
    streams: Streams
    out: int

    def close(self) -> None:
        """For a jail that does not come."""
        self.streams.close()
        if self.out >= 0:
            os.close(self.out)
            self.out = -1


@dataclass(slots=True)
class WarmJail:
    """A parked jail: everything is done but the guest. Used once, by `run`, or thrown away, by `discard`."""

    slot: Slot
    streams: Streams
    exit: int
    init: int
    init_pid: int
    disk: int = -1
    holder: int = -1
    holder_pid: int = 0
    beside: int = 2
    gone: bool = False

    def fileno(self) -> int:
        return self.exit

    def reports(self) -> list[Report]:
        """The zygote's word on how the guest ended, once nothing of it is left."""
        data = os.read(self.exit, REPORT.size)
        if not data:
            raise HelperLost("the zygote ended while the guest ran")
        disk = os.fstatvfs(self.disk)
        try:
            report = decode_report(data)
        except ValueError as error:
            raise HelperLost(f"the zygote sent {error}") from error
        exited = replace(report, disk_full=int(disk.f_bfree == 0 or disk.f_ffree == 0))
        self._await_empty()
        return [exited, replace(exited, kind=ReportKind.GONE)]

    def kill(self) -> None:
        """Ends the jail: its PID 1, and so all in its pid namespace, and the holder, which would be last to hear of it."""
        for pidfd in (self.init, self.holder):
            if pidfd >= 0:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def alive(self) -> bool:
        """Whether the jail is still there."""
        poll = select.poll()
        poll.register(self.init, select.POLLIN)
        return not poll.poll(0)

    def _await_empty(self) -> None:
        """PID 1 was killed together with the report. Where only it and the holder of the memory are left, and that is
        killed too, nothing can run in the jail any more; that it is taken down need not be waited for.

        Not by cgroup.kill: since Linux 6.14, and in kernels that took its fix of a race over, a process that is cloned
        into a group that was ever killed is itself killed, and the leaf is to be used again."""
        self.kill()
        leaf = self.slot.leaf
        if leaf is None or not set(leaf.pids()) <= {self.init_pid, self.holder_pid}:
            self.await_gone()

    def await_gone(self) -> None:
        """Until PID 1 has ended, which it does after everybody else in its namespace."""
        if not self.gone:
            poll = select.poll()
            poll.register(self.init, select.POLLIN)
            if not poll.poll(SETUP_SECONDS * 1000):
                raise InfrastructureError("a process of the jail does not die: the kernel holds it (uninterruptible)")
            self.gone = True

    def run(
        self,
        task: Task,
        limits: Limits,
        layers: dict[str, str],
        *,
        crossing: Crossing | None = None,
        talk: Talk | None = None,
    ) -> Result:
        """The guest's one run, with the limits of this call, and whom it talks to."""
        begun = time.monotonic()
        self.slot.limit(limits)
        streams = self.streams
        streams.crossing, streams.talk = crossing, talk
        streams.input, streams.frame_bytes = task.stdin, task.frame_bytes + 64
        count = self.slot.leaf is None or "pids" not in self.slot.leaf.home.controllers
        arguments = {
            "rlimits": _rlimits(limits, count),
            "code": task.code,
            "files": [
                (f"{INSIDE.work}/{file.name}", file.content, file.mode)
                for file in (File(task.name, task.code), *task.files)
            ],
        }
        streams.request = task.request(INSIDE.work, arguments)
        facts = watch(self, self.slot.leaf, limits, streams, self.init_pid)
        return result(facts, layers, {"hand_over": time.monotonic() - begun - facts.wall_s})

    def discard(self) -> None:
        """Ends a jail that was not used, or that was, and lets go of it."""
        self.kill()
        self.streams.close()

    def close(self) -> None:
        """After the end: waits until the empty jail is taken down, and closes what is left of it here."""
        try:
            self.await_gone()
        finally:
            close_all((self.exit, self.init, self.disk, self.holder))


@functools.lru_cache(maxsize=64)
def _rlimits(limits: Limits, count_processes: bool) -> list[tuple[int, int]]:
    """What the guest's process sets for itself. Its memory's holder and, for an ordinary user, PID 1 share its user.
    RLIMIT_CORE came with the zygote, and the filter lets no guest touch it."""
    lowered = rlimits.lower(limits, count_processes=count_processes, beside=2)
    return [(each.resource, each.hard) for each in lowered if each.resource != resource.RLIMIT_CORE]


class Zygote:
    """A warm interpreter and its keeper. `order` and `receive` give jails; not safe for two threads at once."""

    def __init__(self, policy: Policy, limits: Limits, host: Host, preload: tuple[str, ...]) -> None:
        self.made = 0
        self.ids = choose_zygote_ids()
        with contextlib.ExitStack() as undo:
            self.place = self.leaf = None
            if host.cgroup is not None:
                self.place = cgroup.inner_home(host.cgroup, f"zygote-{next(_leaf_numbers)}", self.ids.owner)
                undo.callback(cgroup.remove_home, self.place)
                self.leaf = cgroup.Leaf.make(self.place, "self")
                undo.callback(_remove, self.leaf)
                self.leaf.let_in(self.ids.owner)
            self.specs = lower_zygote(policy, limits, host, self.ids, self.leaf)
            self.errors = os.memfd_create("jailpy-zygote-errors")
            undo.callback(os.close, self.errors)
            self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.callback(self.control.close)
            self.control.settimeout(SETUP_SECONDS)
            with theirs:
                self.helper = _start(self.specs, theirs.fileno(), self.errors, self.leaf)
            undo.callback(self.helper.close)
            self.control.send(values.encode({"spec": encode(self.specs.stamp), "preload": list(preload)}))
            self._undo = undo.pop_all()

    def order(self, slot: Slot, hurry: bool = False) -> Ordered:
        """Asks for one more jail, without waiting for it; `receive` gives it, in the order of the orders.

        `hurry`: a caller waits already, so the child does not spend time on being warm for one that comes later."""
        slot.ready(self.place, self.ids.owner)
        self.made += 1
        request = {"map": jail_map(self.made, self.ids.count), "slot": slot.number, "hurry": hurry}
        ordered, theirs = _streams(slot)
        try:
            leaf = [slot.leaf.fd] if slot.leaf else []
            socket.send_fds(self.control, [values.encode(request)], [*theirs, *leaf])
        except OSError as error:
            ordered.close()
            raise HelperLost(f"the zygote takes no orders: {error.strerror}; {self._last_words()}") from error
        finally:
            for fd in theirs:
                os.close(fd)
        return ordered

    def receive(self, ordered: Ordered) -> WarmJail:
        """The finished jail, waiting for its program. InfrastructureError with the step that failed."""
        with contextlib.ExitStack() as undo:
            undo.callback(ordered.close)
            init = self._accept(*self._answer())
            undo.callback(os.close, init)
            jail = WarmJail(ordered.slot, ordered.streams, ordered.out, init, _pid_of(init))
            undo.pop_all()
        ordered.out = -1  # the jail's now, like the streams
        self._await_parked(jail)
        return jail

    def _answer(self) -> tuple[dict[str, Any], list[int]]:
        try:
            data, got, _, _ = socket.recv_fds(self.control, 65536, 1)
        except OSError as error:
            raise HelperLost(f"the zygote does not answer: {error.strerror or error}; {self._last_words()}") from error
        if not data:
            raise self._why_gone()
        return values.decode(data), got

    def _why_gone(self) -> InfrastructureError:
        """jailpy-init's word on the step that failed, if it had one; otherwise the zygote's own last words."""
        self.helper.socket.settimeout(1.0)
        with contextlib.suppress(OSError):
            while (report := self.helper.receive()) is not None:
                if report.kind is ReportKind.FAULT:
                    return explain(report, self.specs.stamp)
        return HelperLost(f"the zygote ended; {self._last_words()}")

    def _accept(self, answer: dict[str, Any], got: list[int]) -> int:
        if "fault" in answer:
            stage, index, error = answer["fault"]
            report = Report(ReportKind.FAULT, Stage(stage), index, error, 0, 0, 0, 0, 0, 0)
            raise explain(report, self.specs.stamp)
        if "error" in answer or not got:
            raise InfrastructureError(f"the zygote could not park a jail: {answer.get('error')}")
        return got[0]

    def _await_parked(self, jail: WarmJail) -> None:
        try:
            jail.disk, jail.holder = self._parked(jail.streams.channel)
            jail.holder_pid = _pid_of(jail.holder)
        except BaseException:
            jail.discard()
            jail.close()
            raise

    def _parked(self, channel_fd: int) -> tuple[int, int]:
        """What comes with the child's word that it is parked: its working folder, and its memory's holder."""
        poll = select.poll()
        poll.register(channel_fd, select.POLLIN)
        if not poll.poll(SETUP_SECONDS * 1000):
            raise InfrastructureError(f"a jail was not parked after {SETUP_SECONDS:.0f} s: the host is overloaded")
        with socket.socket(fileno=os.dup(channel_fd)) as child:
            data, got, _, _ = socket.recv_fds(child, REPORT.size, 2)
        if len(got) == 2:
            return got[0], got[1]
        close_all(got)  # of two, the kernel gives one where this process may open one more
        if len(data) == REPORT.size:
            raise explain(decode_report(data), self.specs.stamp)
        raise InfrastructureError(f"a jail could not be parked: {self._last_words()}")

    def _last_words(self) -> str:
        words = os.pread(self.errors, 4096, 0).decode("utf-8", "backslashreplace").strip()
        return words.splitlines()[-1] if words else "it left no word why"

    def close(self) -> None:
        """Ends the zygote and every jail made from it."""
        self._undo.close()


def _remove(leaf: cgroup.Leaf) -> None:
    with contextlib.suppress(OSError):  # a process that the kernel cannot end keeps it; the home goes with us
        leaf.remove()
    leaf.close()


def _start(specs: ZygoteSpecs, control: int, errors: int, leaf: cgroup.Leaf | None) -> Helper:
    # Its three streams are pipes, like those of the guests that inherit its stream objects.
    with contextlib.ExitStack() as pipes:
        ends: list[int] = []
        for _ in range(2):
            ends += os.pipe()
            pipes.callback(close_all, ends[-2:])
        helper = launch(specs.zygote, (ends[0], ends[3], errors, control), leaf, specs.stamp)
    try:
        helper.wait_started()
    except BaseException:
        helper.close()
        raise
    return helper


def _streams(slot: Slot) -> tuple[Ordered, tuple[int, int, int, int, int]]:
    """Our ends and the jail's, of its standard streams, its channel and the word of its end."""
    with contextlib.ExitStack() as undo:
        streams, theirs = guest_pipes()
        undo.callback(streams.close)
        undo.callback(close_all, theirs)
        guests = (*theirs, channel(streams))
        undo.callback(os.close, guests[-1])
        out, out_guest = os.pipe()
        undo.pop_all()
    return Ordered(slot, streams, out), (*guests, out_guest)


def _pid_of(pidfd: int) -> int:
    """The process behind a pidfd, as this process's pid namespace numbers it; 0 or less when it has ended."""
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))
