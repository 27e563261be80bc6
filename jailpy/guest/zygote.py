"""A warm interpreter that only forks. Runs as the first guest of a jail of its own, before any untrusted code exists, and
never runs any: each child enters a jail that jailpy-init made for it, gives up everything, waits for one request, runs it
and ends. Python 3.8 and later, standard library only.

Descriptors: 3 the library (SOCK_SEQPACKET), 4 jailpy-init's stamper. Messages are values (values.py).

    library > zygote   first the plan (confine.Confinement, "preload"), then one message a jail:
                       {"map", "slot"} with descriptors stdin, stdout, stderr, channel, exit[, leaf]
    zygote > library   {"parked": True} with pidfds of the jail's PID 1 and of the child,
                       or {"fault": (stage, index, errno)} or {"error": text}
    exit descriptor    EXIT, once: wait status, microseconds of user and system time, resident peak in KiB
"""

import gc
import os
import select
import signal
import socket
import struct
import sys

import confine
import driver
import values

LIBRARY, STAMPER = 3, 4
EXIT = struct.Struct("<iQQQ")
REPORT = struct.Struct("<3I3i2I2Q")  # native/spec.h
FAULT, STAMPED = 2, 5
CLONE_NEWNET = 0x40000000

# Touched once in every child before it is parked: the pages that any program dirties are copied then, not later.
_WARM_UP = "import sys\ndef f(a, *b, **c):\n    return [a, b, c, {a: str(b)}]\nclass C:\n    x = f(1, 2, d=3)\n" * 2


class Zygote:
    """Forks children for the library until the library closes its end."""

    def __init__(self):
        self.library = socket.socket(fileno=LIBRARY)
        self.stamper = socket.socket(fileno=STAMPER)
        for fd in (LIBRARY, STAMPER):
            os.set_inheritable(fd, False)
        plan = values.decode(self.library.recv(1 << 20))
        self.confinement = confine.Confinement(plan)
        for name in plan["preload"]:
            __import__(name)
        self.networks = {}
        self.children = {}  # pid: (exit descriptor, pidfd of PID 1)
        self.wakeup, wakeup = os.pipe()
        for fd in (self.wakeup, wakeup):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)

    def serve(self):
        """The loop of the parent. In a child it returns the child's request, ready to run."""
        gc.collect()
        gc.freeze()
        poll = select.poll()
        poll.register(LIBRARY, select.POLLIN)
        poll.register(self.wakeup, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == self.wakeup:
                    self._reap()
                elif self._jail():
                    return

    def _reap(self):
        try:
            os.read(self.wakeup, 4096)
        except BlockingIOError:
            pass
        while self.children:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if not pid:
                return
            out, init = self.children.pop(pid)
            times = int(usage.ru_utime * 1e6), int(usage.ru_stime * 1e6)
            try:
                # PID 1 goes at once, and with it whatever the guest left running.
                signal.pidfd_send_signal(init, signal.SIGKILL)
            except ProcessLookupError:  # the library killed it before
                pass
            try:
                os.write(out, EXIT.pack(status, *times, usage.ru_maxrss))
            except BrokenPipeError:  # nobody is listening any more
                pass
            os.close(out)
            os.close(init)

    def _jail(self):
        """One jail. True in the child that is to live in it."""
        message, fds, _, _ = socket.recv_fds(self.library, 4096, 8)
        if not message:
            os._exit(0)
        request = values.decode(message)
        *streams, out = fds[:5]
        leaf = fds[5:]
        kept = ()
        try:
            init, fault = self._stamp(request, leaf)
            if fault:
                self._answer({"fault": fault})
            else:
                confine.join_pid_namespace(init)
                pid, guest = confine.fork_into(*leaf)
                if pid == 0:
                    self._become(init, streams)
                    return True
                kept = (out, init)
                self.children[pid] = kept
                self._answer({"parked": True}, [init, guest])
                os.close(guest)
        except OSError as error:
            self._answer({"error": str(error)})
        for fd in fds:
            if fd not in kept:
                os.close(fd)
        return False

    def _answer(self, value, fds=()):
        socket.send_fds(self.library, [values.encode(value)], fds)

    def _stamp(self, request, leaf):
        """Asks for a jail: (pidfd of its PID 1, None), or (None, where its set-up stopped)."""
        fds = [self._network(request["slot"]), *leaf]
        socket.send_fds(self.stamper, [request["map"].encode()], fds)
        init = ready = fault = None
        # The stamper says what it cloned, PID 1 says that it is done; either may come first.
        while not fault and (init is None or ready is None):
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

    def _network(self, slot):
        """The slot's empty network namespace: made once, kept while no socket is left in it."""
        kept = self.networks.get(slot)
        if kept and os.pread(kept[1], 64, 0).startswith(b"sockets: used 0\n"):
            return kept[0]
        if kept:
            os.close(kept[0]), os.close(kept[1])
        confine.unshare(CLONE_NEWNET)
        flags = os.O_RDONLY | os.O_CLOEXEC
        made = os.open("/proc/self/ns/net", flags), os.open("/proc/self/net/sockstat", flags)
        self.networks[slot] = made
        return made[0]

    def _become(self, init, streams):
        """The child: into the jail, away from everything, parked."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for target, fd in enumerate(streams):
            os.dup2(fd, target, inheritable=target < LIBRARY)
        self.confinement.enter(init)
        signal.pidfd_send_signal(init, signal.SIGUSR1)  # PID 1 may hide itself now
        self.library.detach(), self.stamper.detach()
        confine.close_from(4)
        os.setsid()
        confine.reset_signals()
        self.confinement.apply()
        os.chdir("/work")


def _warm_up():
    """Runs a harmless program the way that a request will run."""
    namespace = {"__name__": "warm_up"}
    exec(compile(_WARM_UP, "<warm up>", "exec"), namespace)
    values.decode(values.encode({"value": [1, "a", 2.5, None, (True,)]}))
    sys.stdout.flush()
    sys.stderr.flush()


def _limit(rlimits):
    import resource

    for name, value in rlimits:
        resource.setrlimit(name, (value, value))


def _live():
    """The parked child: says so, waits, runs one request."""
    _warm_up()
    for name in ("driver", "values", "confine"):
        del sys.modules[name]
    disk = os.open("/work", os.O_PATH | os.O_CLOEXEC)
    with socket.socket(fileno=os.dup(driver.CHANNEL)) as channel:
        socket.send_fds(channel, [b"P"], [disk])
    os.close(disk)
    request = driver.read_request(values.decode)
    if request is None:
        os._exit(0)
    _limit(request["rlimits"])
    for name, content, mode in request["files"]:
        driver.place(name, content, mode)
    sys.path[0] = "/work"
    sys.argv[:] = [os.path.basename(request["path"])]
    sys.modules["__main__"] = type(sys)("__main__")
    if "numpy" in sys.modules:  # its global generator was seeded once, in the zygote; `random` and ssl see to themselves
        sys.modules["numpy"].random.seed()
    run = driver.Driver(request, values.encode, values.TooLarge)
    driver.end(run.run, request["mode"])


if __name__ == "__main__":
    Zygote().serve()
    _live()
