"""Starts jailpy-init and reads what it reports. Waits for set-up only; what comes after is monitor.py's.

posix_spawn, never fork: the host may have hundreds of threads and gigabytes, and a fork copies the page tables of all
that and the locks of all those.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from jailpy.errors import HelperLost, InfrastructureError, SetupError
from jailpy.kernel.cgroup import Leaf
from jailpy.kernel.spec import LaunchSpec, Report, ReportKind, Stage, decode_report, encode

HELPER = Path(__file__).parent.parent / "_native" / "jailpy-init"
SETUP_SECONDS = 60.0
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_ALL_SIGNALS = sorted(set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})

_WORDS: dict[Stage, str] = {
    Stage.SPEC: "the helper could not read its launch spec (a helper of another version?)",
    Stage.KEEPER: "the helper could not watch the process that started it",
    Stage.SOURCES: "a host path that the guest should see could not be opened as a read-only mount",
    Stage.CLONE: "the jail's namespaces could not be made",
    Stage.IDMAP: "user and group ids could not be mapped into the jail",
    Stage.PARENT_DEATH: "the jail could not be tied to its maker's life",
    Stage.CGROUP_NAMESPACE: "the cgroup namespace could not be made",
    Stage.HOSTNAME: "the host name could not be set",
    Stage.PRIVATE_MOUNTS: "the jail's mounts could not be made private",
    Stage.ROOT: "the jail's root could not be mounted",
    Stage.MOUNTS: "a mount or file of the jail's root could not be made",
    Stage.SYSCTLS: "a sysctl of the jail could not be written",
    Stage.PIVOT: "the jail's root could not be entered",
    Stage.SEAL_ROOT: "the jail's root could not be made read-only",
    Stage.SPAWN: "the guest's process could not be made",
    Stage.SESSION: "the guest could not get a session of its own",
    Stage.STDIO: "the guest's standard streams could not be placed",
    Stage.RLIMITS: "an rlimit could not be set",
    Stage.IDS: "the guest's user id could not be taken on",
    Stage.CAPABILITIES: "capabilities could not be dropped",
    Stage.NO_NEW_PRIVS: "no_new_privs could not be set",
    Stage.LANDLOCK: "the Landlock rules could not be applied",
    Stage.SIGNALS: "signals could not be reset",
    Stage.WORKDIR: "the working folder could not be entered",
    Stage.FDS: "inherited descriptors could not be closed",
    Stage.SECCOMP: "the seccomp filter could not be installed",
    Stage.EXEC: "the program could not be executed",
    Stage.DROP_INIT: "PID 1 of the jail could not give up its privileges",
    Stage.JOIN: "the zygote's child could not enter its jail",
}
_HINTS: dict[tuple[Stage, int], str] = {
    (Stage.CLONE, errno.EPERM): "user namespaces are refused: see `jailpy doctor` for the change that allows them",
    (Stage.CLONE, errno.ENOSPC): "raise user.max_user_namespaces and its siblings in /proc/sys/user",
    (Stage.CLONE, errno.EAGAIN): "the host is at a process limit (pids.max, RLIMIT_NPROC, kernel.pid_max)",
    (Stage.EXEC, errno.ENOENT): "the program or its loader is not in the jail's root",
    (Stage.EXEC, errno.EACCES): "the program is not executable by the guest's user",
}


def explain(report: Report, spec: LaunchSpec) -> SetupError:
    """A FAULT in words: what stopped, where, the kernel's reason, and a fix where one is known."""
    subject = _subject(report, spec)
    text = f"{_WORDS.get(report.stage, report.stage.name)}{subject}: {os.strerror(report.error)}"
    hint = _HINTS.get((report.stage, report.error))
    return SetupError(
        report.stage.name.lower(),
        report.index,
        report.error,
        f"{text} (stage {report.stage.name.lower()}, step {report.index}, {errno.errorcode.get(report.error, '?')})"
        + (f"; {hint}" if hint else ""),
    )


def _subject(report: Report, spec: LaunchSpec) -> str:
    if report.stage in (Stage.MOUNTS, Stage.SOURCES) and report.index < len(spec.mounts):
        op = spec.mounts[report.index]
        return f" ({op.kind.name.lower()} {op.source or op.target})"
    if report.stage is Stage.RLIMITS and report.index < len(spec.rlimits):
        return f" ({spec.rlimits[report.index]})"
    if report.stage is Stage.EXEC:
        return f" ({spec.argv[0]})"
    return ""


@dataclass(slots=True)
class Helper:
    """A running jailpy-init. `socket` carries its reports; `kill` and `close` end it; nothing of it outlives `close`."""

    pid: int
    spec: LaunchSpec
    socket: socket.socket
    pidfd: int
    beside: int = 1
    holder_pid: int = 0

    def fileno(self) -> int:
        """Readable when `reports` has something."""
        return self.socket.fileno()

    def reports(self) -> list[Report]:
        """What jailpy-init said since the start. SetupError for a fault, HelperLost when it ended without a word."""
        report = self.receive()
        if report is None:
            raise HelperLost("jailpy-init ended while the guest ran, and did not say why")
        if report.kind is ReportKind.FAULT:
            raise explain(report, self.spec)
        return [report]

    def receive(self) -> Report | None:
        """The next report if one is there; None at the end of the helper. BlockingIOError where nothing is there yet."""
        try:
            data = self.socket.recv(4096)
        except ConnectionResetError:  # it was killed with our wish to kill unread
            return None
        if not data:
            return None
        try:
            return decode_report(data)
        except ValueError as error:
            raise HelperLost(f"jailpy-init sent {error}") from error

    def wait_started(self) -> None:
        """Until the guest's first instruction. SetupError with the step that failed, HelperLost if the helper died."""
        deadline = time.monotonic() + SETUP_SECONDS
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        while True:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise InfrastructureError(f"the jail was not ready after {SETUP_SECONDS:.0f} s: the host is overloaded")
            report = self.receive()
            if report is None or report.kind is ReportKind.GONE:
                raise HelperLost("jailpy-init ended before the guest started, and did not say why")
            if report.kind is ReportKind.FAULT:
                raise explain(report, self.spec)
            if report.kind is ReportKind.STARTED:
                return

    def kill(self) -> None:
        """Asks the keeper to end the jail now. The keeper does it even if this process dies before it gets there."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.send(b"K")

    def close(self) -> None:
        """Ends the jail if it still runs, and waits until keeper and leaf are gone."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        if not poll.poll(SETUP_SECONDS * 1000):
            # A keeper that does not end waits for a process that the kernel does not let die (uninterruptible sleep).
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        _wait_for(self.pid)
        os.close(self.pidfd)


def launch(
    spec: LaunchSpec,
    streams: tuple[int, int, int, int],
    leaf: Leaf | None = None,
    stamp: LaunchSpec | None = None,
) -> Helper:
    """Starts a keeper for `spec`; `streams` become the guest's 0, 1, 2 and 3 (-1: none). The caller closes its copies."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with contextlib.ExitStack() as undo, contextlib.ExitStack() as stack:
        undo.callback(ours.close)
        stack.callback(theirs.close)
        blobs = [_memfd(encode(each), stack) if each else -1 for each in (spec, stamp)]
        place = (leaf.fd, leaf.home.fd) if leaf else (-1, -1)
        fds = [blobs[0], theirs.fileno(), *streams, *place, blobs[1]]
        try:
            pid = os.posix_spawn(
                str(HELPER),
                ["jailpy-init", *map(str, fds)],
                {},
                # dup2 onto itself keeps a descriptor over the exec, in the child only.
                file_actions=[(os.POSIX_SPAWN_DUP2, fd, fd) for fd in fds if fd >= 0],
                setsigmask=[],
                setsigdef=_ALL_SIGNALS,
            )
        except OSError as error:
            raise _not_started(error) from error
        undo.callback(_wait_for, pid)
        undo.callback(ours.close)  # first: it is how the helper hears that it is not wanted
        pidfd = os.pidfd_open(pid)
        undo.pop_all()
        return Helper(pid, spec, ours, pidfd)


def _wait_for(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):  # a host that waits for all its children was faster
        os.waitpid(pid, 0)


def missing_helper() -> str:
    """What to say when the helper is not where it was installed."""
    return (
        f"{HELPER} is missing or not executable: reinstall jailpy (building it needs a C compiler), "
        "or restore the file's exec bit"
    )


def _not_started(error: OSError) -> InfrastructureError:
    if error.errno in (errno.ENOENT, errno.EACCES):
        return InfrastructureError(missing_helper())
    return InfrastructureError(f"jailpy-init could not be started: {error.strerror}")


def _memfd(data: bytes, stack: contextlib.ExitStack) -> int:
    fd = os.memfd_create("jailpy-spec", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    stack.callback(os.close, fd)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
    return fd
