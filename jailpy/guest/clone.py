"""A zygote's fork into a jail. Python 3.9 and later; the child's side is native/join.c."""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Any, Callable  # noqa: UP035  # Python 3.9 has no other

_libc = ctypes.CDLL(None, use_errno=True)
_python = ctypes.pythonapi
_NEWPID, _NEWNET = 0x20000000, 0x40000000
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PRESENT, _SHARED, _EXCLUSIVE = 1 << 63, 1 << 61, 1 << 56  # Documentation/admin-guide/mm/pagemap.rst
_MOST_PAGES = 1024


class Join:
    """native/join.c with the spec of the stamped jails.

    A fork that moves itself afterwards takes a lock of the whole host (cgroup_threadgroup_rwsem) that a clone into the
    group does not take, and leaves behind the memory that it touched first. As a sibling of the zygote, the child is
    reaped by jailpy-init, which is awake sooner than an interpreter. A raw clone leaves libc its idea of the thread id:
    the zygote is number 2 of its pid namespace, as the child is of its own, so that idea stays right.
    """

    def __init__(self, library: str, spec: bytes) -> None:
        # The interpreter's own thread state is what the child keeps, so the lock stays held over the calls.
        self.native = ctypes.PyDLL(library, use_errno=True)
        self.spec = (ctypes.c_uint64 * (len(spec) // 8 + 1)).from_buffer_copy(spec + bytes(8 - len(spec) % 8))
        broken = self.native.join_prepare(self.spec, ctypes.c_size_t(len(spec)))
        if broken:
            raise ValueError(f"the spec of stamped jails breaks rule {broken}")
        self.ranges: Any = None  # kept alive: join.so goes on reading it

    def expect(self, rehearse: Callable[[], None]) -> None:
        """Learns from one child that does `rehearse` and ends which memory every child will touch."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                rehearse()
                os.write(writer, b"".join(struct.pack("<3Q", *each) for each in _touched()))
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            data = pipe.read()
        os.waitpid(pid, 0)
        count = len(data) // 24
        self.ranges = (ctypes.c_uint64 * (count * 3)).from_buffer_copy(data)
        self.native.join_expect(self.ranges, ctypes.c_size_t(count))

    def fork(self, leaf: int = -1) -> tuple[int, int]:
        """(0, -1) in the child, (pid, pidfd) in the parent; into the cgroup that `leaf` is a descriptor of."""
        pidfd = ctypes.c_int(-1)
        _python.PyOS_BeforeFork()
        pid: int = self.native.join_fork(leaf, ctypes.byref(pidfd))
        if pid == 0:
            _python.PyOS_AfterFork_Child()
            return 0, -1
        number = ctypes.get_errno()
        _python.PyOS_AfterFork_Parent()
        if pid < 0:
            raise OSError(number, f"clone: {os.strerror(number)}")
        return pid, pidfd.value

    def enter(self, init: int, streams: list[int]) -> int:
        """The child's first step: into the jail, away from everything. Gives a pidfd of its memory's holder."""
        holder: int = self.native.join_enter(init, *streams)
        return holder


def _touched() -> list[tuple[int, int, int]]:
    """(start, bytes, whether it was written to) of the memory that this process has mapped or copied since its fork."""
    pages: list[tuple[int, bool]] = []
    with open("/proc/self/maps", "rb") as maps, open("/proc/self/pagemap", "rb") as pagemap:
        for line in maps.read().splitlines():
            span, mode, _, _, inode = line.split()[:5]
            start, end = (int(part, 16) for part in span.split(b"-"))
            if mode[:1] != b"r" or end > 1 << 47:
                continue
            pagemap.seek(start // _PAGE * 8)
            entries = struct.iter_unpack("<Q", pagemap.read((end - start) // _PAGE * 8))
            for at, (entry,) in enumerate(entries):
                if entry & _PRESENT:
                    written = bool(entry & _EXCLUSIVE and not entry & _SHARED)
                    if written or inode != b"0":
                        pages.append((start + at * _PAGE, written))
    return _ranges(pages)


def _ranges(pages: list[tuple[int, bool]]) -> list[tuple[int, int, int]]:
    """Neighbours of one kind as one. Where pages are only mapped, a small gap costs less than one more call."""
    ranges: list[tuple[int, int, int]] = []
    copied = 0
    for at, written in pages:
        copied += written
        if copied > _MOST_PAGES:
            break
        start, size, kind = ranges[-1] if ranges else (0, 0, -1)
        gap = 0 if written else 8 * _PAGE
        if kind == written and at - (start + size) <= gap:
            ranges[-1] = (start, at + _PAGE - start, kind)
        else:
            ranges.append((at, _PAGE, int(written)))
    return ranges


def join_pid_namespace(init: int) -> None:
    """The next fork's child starts in the pid namespace of which the pidfd `init` is number 1."""
    _check(_libc.setns(init, _NEWPID), "setns")


def new_network() -> None:
    """Leaves for an empty network namespace."""
    _check(_libc.unshare(_NEWNET), "unshare")


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
