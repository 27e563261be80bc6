"""Runs and keepers that go on beside a test, and states that announce themselves to nobody."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import psutil
from jails import PATIENCE

from jailpy import Jail, Limits, Result
from jailpy.kernel.launch import HELPER

_LOOK_SECONDS = 0.005


def wait_until(reached: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """For what no descriptor tells of: it is looked for again and again."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, f"not after {seconds} s: {what}"
        time.sleep(_LOOK_SECONDS)


def keepers() -> list[psutil.Process]:
    """The helpers that this process itself has started: outside of every jail, unlike a PID 1 that lost its keeper."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error, OSError):
            outside = os.path.samestat(os.stat(f"/proc/{child.pid}/ns/pid"), os.stat("/proc/self/ns/pid"))
            if outside and child.name() == HELPER.name:
                found.append(child)
    return found


def in_background(jail: Jail, code: str, **limits: float) -> Future[Result]:
    """A run in a thread of its own."""
    threads = ThreadPoolExecutor(1)
    amounts = {"wall_s": PATIENCE, "cpu_s": PATIENCE, **limits}
    future = threads.submit(jail.run, code, limits=Limits(**amounts))  # type: ignore[arg-type]  # names of its fields
    threads.shutdown(wait=False)
    return future


def reap_all() -> bool:
    """Waits for children that have ended; whether none is left."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return not psutil.Process().children()
