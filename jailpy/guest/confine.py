"""A zygote's child enters a finished jail and gives up everything: the order of native/confine.c, for a process that
already runs. Python 3.8 and later; each step raises OSError where the kernel refuses, and checks what it brought about.
"""

import ctypes
import os
import signal

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_prctl = _libc.prctl
_with_gil = ctypes.PyDLL(None, use_errno=True)
_python = ctypes.pythonapi
_CLONE3, _CLONE_PIDFD, _CLONE_INTO_CGROUP = 435, 0x1000, 0x200000000
_NUMBERS = {  # of calls that libc wraps differently or not at all
    "x86_64": {"seccomp": 317, "capset": 126, "capget": 125, "close_range": 436},
    "aarch64": {"seccomp": 277, "capset": 91, "capget": 90, "close_range": 436},
}[os.uname().machine]
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS = 23, 24, 28
_PR_SET_NO_NEW_PRIVS, _PR_GET_NO_NEW_PRIVS = 38, 39
_SECUREBITS_LOCKED = 0xEF
_SECCOMP_SET_MODE_FILTER = 1
_CAP_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)
_NO_CAPS = (ctypes.c_uint32 * 6)()
_SIGNALS = [sig for sig in range(1, 65) if sig not in (signal.SIGKILL, signal.SIGSTOP, 32, 33)]


class _Fprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


class _RulesetAttr(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("fd", ctypes.c_int32)]


class Confinement:
    """What is the same for every child of a zygote, made ready once: the filter, the Landlock rules, the ids."""

    def __init__(self, plan):
        self.filter = ctypes.create_string_buffer(plan["filter"], len(plan["filter"]))
        self.program = _Fprog(len(plan["filter"]) // 8, ctypes.addressof(self.filter))
        self.namespaces = plan["namespaces"]
        self.guest = plan["guest"]
        self.set_ids = plan["set_ids"]
        self.set_groups = plan["set_groups"]
        fs, net, scoped = plan["landlock_handled"]
        self.ruleset = _RulesetAttr(fs, net, scoped)
        self.ruleset_size = 24 if scoped else 16 if net else 8
        self.rules = plan["landlock_rules"]

    def enter(self, init):
        """Into the namespaces of the jail whose PID 1 `init` is a pidfd of."""
        _check(_libc.setns(init, self.namespaces), "setns")

    def apply(self):
        """From all capabilities over the jail to none, then the two filters."""
        _bound_capabilities()
        if self.set_ids:
            if self.set_groups:
                os.setgroups([])
            os.setresgid(self.guest, self.guest, self.guest)
            os.setresuid(self.guest, self.guest, self.guest)
            if os.getresuid() != (self.guest,) * 3:
                raise OSError("setresuid did not take")
        _drop_capabilities()
        _check(_prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        if _prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1:
            raise OSError("no_new_privs did not take")
        self._landlock()
        # A change of ids made the process unreadable for itself; a program that was executed would be readable.
        _check(_prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable")
        _check(_syscall(_NUMBERS["seccomp"], _SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(self.program)), "seccomp")

    def _landlock(self):
        if not self.ruleset.fs:
            return
        ruleset = _syscall(_LANDLOCK_CREATE, ctypes.byref(self.ruleset), ctypes.c_size_t(self.ruleset_size), 0)
        _check(ruleset, "landlock ruleset")
        for path, access in self.rules:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rule = _PathBeneath(access, fd)
            _check(_syscall(_LANDLOCK_ADD, ruleset, 1, ctypes.byref(rule), 0), "landlock rule")
            os.close(fd)
        _check(_syscall(_LANDLOCK_RESTRICT, ruleset, 0), "landlock restrict")
        os.close(ruleset)


def join_pid_namespace(init):
    """The next fork's child starts in the pid namespace of `init`."""
    _check(_libc.setns(init, 0x20000000), "setns pid")


def fork_into(leaf=-1):
    """os.fork() into a cgroup: (0, None) in the child, (pid, pidfd) in the parent.

    A fork that moves itself afterwards takes a lock of the whole host (cgroup_threadgroup_rwsem) that a clone into the
    group does not take, and leaves behind the memory that it touched first. A raw clone leaves libc its idea of the
    thread id: the caller is number 2 of its pid namespace, as the child is of its own, so that idea stays right.
    """
    pidfd = ctypes.c_int(-1)
    flags = _CLONE_PIDFD | (_CLONE_INTO_CGROUP if leaf >= 0 else 0)
    args = (ctypes.c_uint64 * 11)(flags, ctypes.addressof(pidfd), 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, max(leaf, 0))
    _python.PyOS_BeforeFork()
    pid = _with_gil.syscall(_CLONE3, ctypes.byref(args), ctypes.c_size_t(ctypes.sizeof(args)))
    number = ctypes.get_errno()
    if pid == 0:
        _python.PyOS_AfterFork_Child()
        return 0, None
    _python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, "clone: %s" % os.strerror(number))
    return pid, pidfd.value


def unshare(flags):
    """unshare(2)."""
    _check(_libc.unshare(flags), "unshare")


def close_from(first):
    """Closes every descriptor from `first` on."""
    _check(_syscall(_NUMBERS["close_range"], first, ctypes.c_uint(0xFFFFFFFF), 0), "close_range")


def reset_signals():
    """Default dispositions, none blocked, except what an interpreter sets for itself at its start."""
    for sig in _SIGNALS:
        if signal.getsignal(sig) not in (signal.SIG_DFL, None):
            signal.signal(sig, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _bound_capabilities():
    cap = 0
    while _prctl(_PR_CAPBSET_READ, cap, 0, 0, 0) >= 0:
        _check(_prctl(_PR_CAPBSET_DROP, cap, 0, 0, 0), "bounding set")
        cap += 1
    _check(_prctl(_PR_SET_SECUREBITS, _SECUREBITS_LOCKED, 0, 0, 0), "securebits")


def _drop_capabilities():
    now = (ctypes.c_uint32 * 6)()
    _check(_syscall(_NUMBERS["capset"], ctypes.byref(_CAP_HEADER), ctypes.byref(_NO_CAPS)), "capset")
    _check(_syscall(_NUMBERS["capget"], ctypes.byref(_CAP_HEADER), ctypes.byref(now)), "capget")
    if any(now):
        raise OSError("capabilities are left")


def _check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (what, os.strerror(number)))
