"""A warm interpreter that only forks. Runs as the first guest of a jail of its own, before any untrusted code exists,
and never runs any: each child enters a jail that jailpy-init made for it, gives up everything, waits for one request,
runs it and ends. Python 3.9 and later, standard library only.

Descriptors: 3 the library (SOCK_SEQPACKET), 4 jailpy-init's stamper (native/stamp.c). Messages are values (values.py).

    library > zygote   first the plan {"spec": of the stamped jails, "preload": module names}, then one message a jail:
                       {"map", "slot", "hurry"} with descriptors stdin, stdout, stderr, channel, exit[, leaf]
    zygote > library   {"parked": True} with a pidfd of the jail's PID 1,
                       or {"fault": (stage, index, errno)} or {"error": text}
    child > library    on its channel: PARKED with its working folder and a pidfd of its memory's holder (native/confine.c),
                       or a report of the step that failed
    stamper > library  on the exit descriptor: one report of the guest's end
"""

from __future__ import annotations

import gc
import os
import resource  # noqa: F401  # for the children, which set their limits with it
import socket
import struct
import sys
from typing import Any, Sequence  # noqa: UP035  # Python 3.9 has no other

import clone
import crossing
import driver
import values

LIBRARY, STAMPER = 3, 4
REPORT = struct.Struct("<3I3i2I2Q")  # native/spec.h
FAULT = 2
ADOPT = b"A"
PARKED = b"P"

# Run once in every child before it is parked: the pages that any program dirties are copied then, not later.
_WARM_UP = b"import sys\ndef f(a, *b, **c):\n    return [a, b, c, {a: str(b)}]\nclass C:\n    x = f(1, 2, d=3)\n"


class Zygote:
    """Forks children for the library until the library closes its end."""

    def __init__(self) -> None:
        self.library = socket.socket(fileno=LIBRARY)
        self.stamper = socket.socket(fileno=STAMPER)
        for fd in (LIBRARY, STAMPER):
            os.set_inheritable(fd, False)
        plan = values.decode(self.library.recv(1 << 20))
        self.join = clone.Join(os.path.join(os.path.dirname(__file__), "join.so"), plan["spec"])
        for name in plan["preload"]:
            __import__(name)
        self.networks: dict[int, tuple[int, int]] = {}
        self.holder = -1
        self.hurry = False

    def serve(self) -> None:
        """The loop of the parent. Returns in a child, which is on its way into its jail."""
        driver.forget(("driver", "values", "clone", *crossing.MODULES))  # once for all: a child would copy their pages
        gc.freeze()  # what rehearsals collect is their own
        for _ in range(16):  # until the interpreter has specialised the bytecode, which it does in place
            _rehearse()
            crossing.rehearse()
        gc.collect()
        gc.freeze()
        self.join.expect(_rehearse)
        while not self._jail():
            pass

    def _jail(self) -> bool:
        """One jail. True in the child that is to live in it."""
        message, fds, _, _ = socket.recv_fds(self.library, 4096, 8)
        if not message:
            os._exit(0)
        request = values.decode(message)
        streams, out, leaf = fds[:4], fds[4], fds[5:]
        try:
            init, fault = self._stamp(request, leaf)
            if fault:
                self._answer({"fault": fault})
            else:
                clone.join_pid_namespace(init)
                pid, guest = self.join.fork(*leaf)
                if pid == 0:
                    self.holder = self.join.enter(init, streams)
                    self.library.detach()
                    self.stamper.detach()
                    self.hurry = request["hurry"]
                    return True
                socket.send_fds(self.stamper, [ADOPT], [out, guest, init])
                self._answer({"parked": True}, [init])
                os.close(guest)
                os.close(init)
        except OSError as error:
            self._answer({"error": str(error)})
        for fd in fds:
            os.close(fd)
        return False

    def _answer(self, value: Any, fds: Sequence[int] = ()) -> None:
        socket.send_fds(self.library, [values.encode(value)], fds)

    def _stamp(self, request: Any, leaf: list[int]) -> tuple[int, tuple[int, int, int] | None]:
        """Asks for a jail: (pidfd of its PID 1, None), or (-1, where its set-up stopped)."""
        socket.send_fds(self.stamper, [request["map"].encode()], [self._network(request["slot"]), *leaf])
        init, ready, fault = -1, False, None
        # The stamper says what it cloned, PID 1 says that it is done; either may come first.
        while not fault and (init < 0 or not ready):
            data, got, _, _ = socket.recv_fds(self.stamper, 256, 1)
            if not data:
                os._exit(1)
            kind, stage, index, error = REPORT.unpack(data)[:4]
            if kind == FAULT:
                fault = (stage, index, error)
            elif got:
                init = got[0]
            else:
                ready = True
        return init, fault

    def _network(self, slot: int) -> int:
        """The slot's empty network namespace: made once, kept while no socket is left in it."""
        kept = self.networks.get(slot)
        if kept and os.pread(kept[1], 64, 0).startswith(b"sockets: used 0\n"):
            return kept[0]
        if kept:
            os.close(kept[0])
            os.close(kept[1])
        clone.new_network()
        flags = os.O_RDONLY | os.O_CLOEXEC
        made = os.open("/proc/self/ns/net", flags), os.open("/proc/self/net/sockstat", flags)
        self.networks[slot] = made
        return made[0]


def _rehearse() -> None:
    """Runs a harmless program in the way of a request."""
    main = sys.modules["__main__"]
    sample = {"mode": "script", "path": "/box/main.py", "rlimits": [(1, 2)], "code": _WARM_UP}
    request = values.decode(values.encode(sample))
    driver.Driver(request["code"], request, values).run()
    driver.rehearse_end()
    sys.modules["__main__"] = main
    sys.stdout.write("")
    sys.stdout.flush()


def _live(holder: int, hurry: bool) -> None:
    """The parked child: says so, waits, runs one request."""
    if not hurry:
        _rehearse()
        driver.place("/box/main.py", _WARM_UP, 0o644)
        os.unlink("/box/main.py")
    sys.path[0] = "/box"
    disk = os.open("/box", os.O_PATH | os.O_CLOEXEC)
    with socket.socket(fileno=os.dup(driver.CHANNEL)) as channel:
        socket.send_fds(channel, [PARKED], [disk, holder])
        os.close(disk)
        os.close(holder)
        request, peer = driver.receive(values.decode, channel)
    if request is None:
        os._exit(0)
    setrlimit = sys.modules["resource"].setrlimit
    for name, value in request["rlimits"]:
        setrlimit(name, (value, value))
    for path, content, mode in request["files"]:
        driver.place(path, content, mode)
    if "numpy" in sys.modules:  # its global generator was seeded once, in the zygote; `random` and ssl see to themselves
        sys.modules["numpy"].random.seed()
    sys.modules["__main__"] = type(sys)("__main__")
    run = driver.Driver(request["code"], request, values, peer=(crossing, peer)).run
    driver.end(run, request["mode"])


if __name__ == "__main__":
    zygote = Zygote()
    zygote.serve()
    _live(zygote.holder, zygote.hurry)
