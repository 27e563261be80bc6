"""Trusted checkers in processes of their own, which may hang or crash without harm.

A worker is a new interpreter (never a fork of a process with many threads and much memory), kept for the checks that
follow, and replaced after a hang or a crash. Checkers travel to it by multiprocess' pickler, which is dill: closures and
lambdas with what they hold, functions of modules by their names. Guests' output travels as bytes and only as bytes;
what comes back is one bounded frame of plain values.
"""

from __future__ import annotations

import contextlib
import dis
import hashlib
import inspect
import os
import select
import socket
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jailpy.check_worker import framed, receive
from jailpy.errors import CheckerError, UsageError

#: The texts that a checker may ask for, and their order.
TEXTS = ("input", "output", "answer")
#: To start an interpreter; to import what a checker needs. Not part of a check's time.
_START_SECONDS = _LOAD_SECONDS = 60.0
_REPLY_BYTES = 1 << 20
_MAIN = "import sys; fd, *sys.path = sys.argv[1:]; from jailpy.check_worker import main; main(int(fd))"


@dataclass(frozen=True, slots=True)
class Carried:
    """A callable, pickled; `names` are those of the texts that it takes by name, None where it takes all by position."""

    pickled: bytes
    digest: bytes
    names: tuple[str, ...] | None


def carry(checker: Callable[..., Any], where: str) -> Carried:
    """A callable as it is now, ready to travel. UsageError where it cannot, or does not take the texts."""
    from multiprocess.reduction import ForkingPickler

    names = _names(checker, where)
    try:
        with _without_stdout():
            pickled = bytes(ForkingPickler.dumps(checker, recurse=True))
    except Exception as error:  # whatever the caller's objects raise when they are pickled
        raise UsageError(
            where, f"cannot travel to a worker process ({type(error).__name__}: {error}); let it hold plain data only"
        ) from error
    return Carried(pickled, hashlib.sha256(pickled).digest(), names)


@contextlib.contextmanager
def _without_stdout() -> Iterator[None]:
    """Keeps dill off sys.stdout. To learn which globals a function names, it prints the function's bytecode and reads that
    from what it puts in the place of sys.stdout, for all threads: their output would be lost meanwhile, and two threads
    that do so at once could leave it there. Until it is done, dill asks the bytecode itself."""
    from dill import detect

    with _pickling:
        theirs = detect.nestedglobals
        detect.nestedglobals = _globals_named
        try:
            yield
        finally:
            detect.nestedglobals = theirs


_pickling = threading.Lock()


def _globals_named(function: object, recurse: bool = True) -> list[str]:
    """The globals that a function, method or code object names, functions within it included."""
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", function)
    if not isinstance(code, types.CodeType):
        return []
    names = {found.argval for found in dis.get_instructions(code) if found.opname.endswith("_GLOBAL")}
    for inner in code.co_consts if recurse else ():
        if isinstance(inner, types.CodeType):
            names.update(_globals_named(inner))
    return list(names)


def _names(checker: Callable[..., Any], where: str) -> tuple[str, ...] | None:
    try:
        signature = inspect.signature(checker)
    except (TypeError, ValueError):  # some builtins have none to show
        return None
    named = tuple(name for name in TEXTS if name in signature.parameters)
    if named:
        with contextlib.suppress(TypeError):
            signature.bind(**dict.fromkeys(named))
            return named
    try:
        signature.bind(*TEXTS)
    except TypeError as error:
        raise UsageError(where, f"{error}; it is called as checker(input, output, answer)") from None
    return None


class _Worker:
    """One process and our end of the socket to it."""

    def __init__(self) -> None:
        self.usable = False
        try:
            self.socket, self.process = _start()
        except OSError as error:
            raise CheckerError(f"a worker process for checkers cannot be started: {error}") from error
        try:
            self._receive(time.monotonic() + _START_SECONDS)
        except TimeoutError:
            self.close()
            raise CheckerError(f"a worker process for checkers did not start in {_START_SECONDS:g} s") from None
        except BaseException:
            self.close()
            raise

    def check(self, checker: Carried, texts: Mapping[str, bytes], seconds: float) -> Any:
        """What the checker returns. CheckerError where it does not."""
        request = {"check": checker.digest, "names": checker.names, "texts": dict(texts), "seconds": seconds}
        reply = self._ask(request, seconds)
        if "unknown" in reply:
            reply = self._ask({"load": checker.pickled, "path": list(sys.path)}, _LOAD_SECONDS)
            if "loaded" not in reply:
                raise CheckerError(f"the checker cannot be loaded in a worker process: {reply.get('error')}")
            reply = self._ask(request, seconds)
        if "value" not in reply:
            raise CheckerError(f"the checker raised {reply.get('error')}")
        return reply["value"]

    def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        self.usable = False
        deadline = time.monotonic() + seconds
        try:
            self.socket.settimeout(seconds)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has ended, which is seen below
                self.socket.sendall(framed(request))
            reply = self._receive(deadline)
        except TimeoutError:
            raise CheckerError(f"the checker took longer than {seconds:g} s") from None
        self.usable = True
        return reply

    def _receive(self, deadline: float) -> dict[str, Any]:
        def expire() -> None:
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))

        try:
            reply = receive(self.socket, _REPLY_BYTES, expire)
        except (ConnectionResetError, ValueError):  # no frame: what is left of a process that is broken
            reply = None
        if type(reply) is not dict:
            raise self._died()
        return reply

    def _died(self) -> CheckerError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        code = self.process.returncode
        how = "broke its protocol" if code is None else f"ended (exit code {code})"
        return CheckerError(f"the checker's process {how}")

    def idle(self) -> bool:
        """Whether it is there and has nothing to say, as it should between two checks."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        """Ends the process."""
        self.socket.close()
        self.process.kill()
        self.process.wait()


def _start() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    from multiprocess.spawn import get_executable

    ours, theirs = socket.socketpair()
    try:
        with theirs:
            fd = theirs.fileno()
            command = [get_executable(), "-c", _MAIN, str(fd), *sys.path]
            return ours, subprocess.Popen(command, pass_fds=(fd,), stdin=subprocess.DEVNULL)
    except BaseException:
        ours.close()
        raise


class Workers:
    """Idle workers; as many are made as check at once. A forked child starts with none: they are the parent's."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._closed = False

    def __len__(self) -> int:
        return len(self._idle)

    def check(self, checker: Carried, texts: Mapping[str, bytes], seconds: float) -> Any:
        """What the checker returns for these texts: True, False, a tuple of one of them and a text, or an Opaque that
        stands for anything else. CheckerError where it raises, hangs for longer than `seconds`, or its process ends."""
        worker = self._take() or _Worker()
        try:
            return worker.check(checker, texts, seconds)
        finally:
            self._put(worker)

    def close(self) -> None:
        """Ends the idle workers, and those that check when they have done so."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        if os.getpid() == self._process:
            for worker in idle:
                worker.close()

    def _take(self) -> _Worker | None:
        with self._lock:
            if os.getpid() != self._process:
                self._idle, self._process = [], os.getpid()
            while self._idle:
                worker = self._idle.pop()
                if worker.idle():
                    return worker
                worker.close()
        return None

    def _put(self, worker: _Worker) -> None:
        with self._lock:
            keep = worker.usable and not self._closed
            if keep:
                self._idle.append(worker)
        if not keep:
            worker.close()
