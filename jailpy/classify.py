"""Facts to Status. Pure; the first limit that fired wins over the way in which the guest then died."""

from __future__ import annotations

import os
import signal

from jailpy.kernel.monitor import Facts, Fired
from jailpy.status import Status

_BY_LIMIT = {
    Fired.CPU: Status.CPU_TIME,
    Fired.WALL: Status.WALL_TIME,
    Fired.MEMORY: Status.MEMORY,
    Fired.OUTPUT: Status.OUTPUT,
    Fired.PROCESSES: Status.PROCESSES,
}


def classify(facts: Facts) -> tuple[Status, int | None, int | None]:
    """(status, exit code, signal), the latter two only where the guest ended by itself. INTERNAL_ERROR where it vanished
    and no fact says why."""
    if facts.oom_kills:
        return Status.MEMORY, None, None
    if facts.fired is Fired.CUT:
        return Status.SIGNALLED, None, signal.SIGKILL
    if facts.fired is not Fired.NONE:
        return _BY_LIMIT[facts.fired], None, None
    if facts.fork_refusals:
        return Status.PROCESSES, None, None
    if facts.let_go:
        return Status.EXITED, None, None
    code, sig = _ending(facts.wait_status)
    if facts.wait_status is None:
        return Status.INTERNAL_ERROR, None, None
    if facts.disk_full and code != 0:
        return Status.DISK, code, sig
    # A signal proves nothing more than itself: a guest can send SIGXCPU or SIGKILL to itself.
    return (Status.EXITED if sig is None else Status.SIGNALLED), code, sig


def _ending(wait_status: int | None) -> tuple[int | None, int | None]:
    if wait_status is None:
        return None, None
    if os.WIFSIGNALED(wait_status):
        return None, os.WTERMSIG(wait_status)
    return os.WEXITSTATUS(wait_status), None
