"""The calls by which a zygote forks into a jail; its children's side is native/join.c. Python 3.8 and later."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_with_gil = ctypes.PyDLL(None, use_errno=True)
_python = ctypes.pythonapi
_CLONE3 = 435
_PIDFD, _PARENT, _INTO_CGROUP = 0x1000, 0x8000, 0x200000000
NEWPID, NEWNET = 0x20000000, 0x40000000


def fork_into(leaf=-1):
    """os.fork() into a cgroup, as a sibling: (0, None) in the child, (pid, pidfd) in the parent.

    A fork that moves itself afterwards takes a lock of the whole host (cgroup_threadgroup_rwsem) that a clone into the
    group does not take, and leaves behind the memory that it touched first. As a sibling, the child is reaped by
    jailpy-init, which is awake sooner than an interpreter. A raw clone leaves libc its idea of the thread id: the caller
    is number 2 of its pid namespace, as the child is of its own, so that idea stays right.
    """
    pidfd = ctypes.c_int(-1)
    flags = _PIDFD | _PARENT | (_INTO_CGROUP if leaf >= 0 else 0)
    args = (ctypes.c_uint64 * 11)(flags, ctypes.addressof(pidfd), 0, 0, 0, 0, 0, 0, 0, 0, max(leaf, 0))
    _python.PyOS_BeforeFork()
    pid = _with_gil.syscall(_CLONE3, ctypes.byref(args), ctypes.c_size_t(ctypes.sizeof(args)))
    if pid == 0:
        _python.PyOS_AfterFork_Child()
        return 0, None
    number = ctypes.get_errno()
    _python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, "clone: %s" % os.strerror(number))
    return pid, pidfd.value


def join_pid_namespace(init):
    """The next fork's child starts in the pid namespace of which the pidfd `init` is number 1."""
    _check(_libc.setns(init, NEWPID), "setns")


def new_network():
    """Leaves for an empty network namespace."""
    _check(_libc.unshare(NEWNET), "unshare")


def _check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (what, os.strerror(number)))


class Join:
    """native/join.c with the spec of the stamped jails."""

    def __init__(self, library, spec):
        # The interpreter's own thread state is what the child keeps, so the lock stays held over the call.
        native = ctypes.PyDLL(library)
        self.spec = (ctypes.c_uint64 * (len(spec) // 8 + 1)).from_buffer_copy(spec + bytes(8 - len(spec) % 8))
        broken = native.join_prepare(self.spec, ctypes.c_size_t(len(spec)))
        if broken:
            raise ValueError("the spec of stamped jails breaks rule %d" % broken)
        self.enter = native.join_enter
