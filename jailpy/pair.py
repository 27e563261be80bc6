"""Two jails that talk to each other: a program's, and that of the code which tests it."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import socket
from collections.abc import Callable

from jailpy.kernel.monitor import Crossing
from jailpy.status import Result

_Run = Callable[[Crossing], Result]
#: For a program to end by itself once its tests have failed, so that how it ended is known; it has heard the end of them.
_GRACE_SECONDS = 0.25


def run_pair(
    program: _Run, referee: _Run, decided: Callable[[Result], bool], beside: concurrent.futures.Executor
) -> tuple[Result, Result]:
    """Runs both, each with its end of one connection; the program, in another thread, no longer than the referee.

    decided   whether a result of the referee's leaves nothing to learn from the program
    """
    with contextlib.ExitStack() as stack:
        ends = socket.socketpair()
        let_go = os.eventfd(0, os.EFD_CLOEXEC)
        stack.callback(os.close, let_go)
        theirs, ours = Crossing(ends[0].detach(), let_go), Crossing(ends[1].detach())
        stack.callback(ours.close)
        stack.callback(theirs.close)  # for a run that no thread took up
        running = beside.submit(_closing, program, theirs)
        try:
            judged = referee(ours)
            if not decided(judged):
                concurrent.futures.wait([running], _GRACE_SECONDS)
        finally:
            ours.close()
            os.eventfd_write(let_go, 1)
            concurrent.futures.wait([running])
        return running.result(), judged


def _closing(run: _Run, crossing: Crossing) -> Result:
    """A run that cannot even begin must not leave the other side waiting."""
    try:
        return run(crossing)
    finally:
        crossing.close()
