"""What runs in a worker process: trusted checkers, one check after the other, in a process that may hang or die of them.

Request and reply are one value each (guest/values.py) behind an 8-byte big-endian length:

    request  {"load": pickled checker, "path": sys.path}     carried by multiprocess, which is dill
             {"check": digest, "names": (...) or None, "texts": {"input", "output", "answer"} as bytes, "seconds"}
    reply    {"ready": True} once | {"loaded": True} | {"unknown": True} | {"value": bool or (bool, text)}
             | {"error": text}

A value that is neither becomes an Opaque.

Texts are decoded as UTF-8 with `surrogateescape`: bytes that are no UTF-8 become lone surrogates, none is lost.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from jailpy.guest import values

MAX_BYTES = 1 << 30
_KEPT = 64  # checkers that stay loaded
_REASON_CHARS = 1000
_LOOK_SECONDS = 5.0
_GRACE_SECONDS = 1.0

_loaded: collections.OrderedDict[bytes, Callable[..., Any]] = collections.OrderedDict()


def receive(stream: socket.socket, limit: int, expire: Callable[[], None] = lambda: None) -> Any:
    """The next message; None at the end of the stream. `expire` is called before each read."""
    data = bytearray()
    wanted = 8
    while len(data) < wanted:
        expire()
        more = stream.recv(min(wanted - len(data), 1 << 20))
        if not more:
            return None
        data += more
        if len(data) == wanted == 8:
            wanted += int.from_bytes(data, "big")
            if wanted - 8 > limit:
                raise ValueError(f"a message of {wanted - 8} bytes")
    return values.decode(bytes(data[8:]), max_bytes=limit)


def framed(message: dict[str, Any]) -> bytes:
    """A message as it travels."""
    body = values.encode(message, max_bytes=MAX_BYTES)
    return len(body).to_bytes(8, "big") + body


def main(fd: int) -> None:
    """Serves until the other end closes, or its process has died and left the socket to its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to everybody; the library decides for both
    os.set_inheritable(fd, False)
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # what checkers print must not mix with what the program prints
    parent = os.getppid()
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    with socket.socket(fileno=fd) as stream:
        stream.sendall(framed({"ready": True}))
        while os.getppid() == parent:
            if poll.poll(_LOOK_SECONDS * 1000):
                request = receive(stream, MAX_BYTES)
                if request is None:
                    break
                stream.sendall(framed(_answer(request)))


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        if "load" in request:
            return _load(request["load"], request["path"])
        checker = _loaded.get(request["check"])
        if checker is None:
            return {"unknown": True}
        return {"value": _check(checker, request)}
    except BaseException as error:  # noqa: BLE001  # SystemExit too: whatever a checker raises is told, and is no verdict
        return {"error": f"{type(error).__name__}: {_text(error)}"}


def _load(pickled: bytes, path: list[str]) -> dict[str, Any]:
    from multiprocess.reduction import ForkingPickler

    sys.path[:] = path
    _loaded[hashlib.sha256(pickled).digest()] = ForkingPickler.loads(pickled)
    if len(_loaded) > _KEPT:
        _loaded.popitem(last=False)
    return {"loaded": True}


def _check(checker: Callable[..., Any], request: dict[str, Any]) -> Any:
    texts = {name: data.decode("utf-8", "surrogateescape") for name, data in request["texts"].items()}
    # The kernel ends a check that hangs, in C code too, and where nobody is left who waits for it.
    signal.setitimer(signal.ITIMER_REAL, request["seconds"] + _GRACE_SECONDS)
    try:
        if request["names"] is None:
            value = checker(texts["input"], texts["output"], texts["answer"])
        else:
            value = checker(**{name: texts[name] for name in request["names"]})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if type(value) is tuple and len(value) == 2 and type(value[1]) is str:
        value, reason = value[0], value[1][:_REASON_CHARS]
        return (value, reason) if type(value) is bool else values.Opaque("tuple")
    return value if type(value) is bool else values.Opaque(type(value).__name__)


def _text(error: BaseException) -> str:
    try:
        text = str(error)[:_REASON_CHARS]
    except Exception:  # noqa: BLE001  # a message that cannot be made is left out
        text = ""
    return "".join(char if char.isprintable() else " " for char in text)
