"""cgroup v2 over file descriptors: one folder of leaves a process, one leaf a jail.

Facts that shape this file (kernel docs, cgroup-v2.rst): a group with controllers for its children holds no process of
its own, so a delegated group's processes first move into a child; limits are set before a process enters; counters are
cumulative, so a leaf that is used again is read by difference; removal fails with EBUSY until the last process is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import functools
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

WANTED = ("memory", "pids", "cpu")
_PREFIX = "jailpy-"
_HOST_CHILD = "jailpy-host"


@dataclass(frozen=True, slots=True)
class Home:
    """Where leaves are made: an open directory, its path, the controllers that its children have."""

    fd: int
    path: str
    controllers: frozenset[str]


class Unavailable(OSError):
    """No cgroup v2 folder that this process may use; the text says what was tried."""


@functools.cache
def home() -> Home:
    """This process's folder of leaves, made at the first call. Unavailable where the host offers no place for one.

    Tried in order: JAILPY_CGROUP (a delegated group, given by the operator), the group this process is in, and, as
    root, the top of the hierarchy.
    """
    mount = _mount_point()
    candidates = [os.environ.get("JAILPY_CGROUP", ""), _own_group(mount), mount if os.geteuid() == 0 else ""]
    refused = []
    for parent in dict.fromkeys(path for path in candidates if path):
        try:
            return _make_home(parent)
        except OSError as error:
            refused.append(f"{parent}: {error.strerror}")
    raise Unavailable(errno.EACCES, "no cgroup v2 group may be made here (" + "; ".join(refused) + ")")


def _mount_point() -> str:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            if after.startswith("cgroup2 "):
                return before.split()[4]
    raise Unavailable(errno.ENOENT, "no cgroup v2 file system is mounted")


def _own_group(mount: str) -> str:
    with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
        own = next((line[3:].strip() for line in file if line.startswith("0::")), "/")
    path = os.path.normpath(mount + own) if not own.startswith("/..") else mount
    while os.path.basename(path) == _HOST_CHILD:  # where a process before this one has moved us, to make room
        path = os.path.dirname(path)
    return path


def _make_home(parent: str) -> Home:
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(3)}"
    path = os.path.join(parent, name)
    with _alone_in(parent):
        _sweep(parent)
        _enable(parent)
        os.mkdir(path, 0o755)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(fd, fcntl.LOCK_EX)  # held for as long as this process lives, which is how others see that it does
    _enable(path)
    atexit.register(leave)
    enabled = frozenset(_read_at(fd, "cgroup.subtree_control").split())
    leaf = Leaf.make(Home(fd, path, enabled), "probe")
    leaf.remove()
    return Home(fd, path, enabled)


@contextlib.contextmanager
def _alone_in(parent: str) -> Iterator[None]:
    """One process at a time makes and sweeps folders: a new one that has no lock yet looks like that of a dead process."""
    fd = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _sweep(parent: str) -> None:
    """Removes the folders of processes that were killed before they could do it themselves."""
    for name in os.listdir(parent):
        if not name.startswith(_PREFIX) or name == _HOST_CHILD:
            continue
        with contextlib.suppress(OSError):
            fd = os.open(os.path.join(parent, name), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for folder, _, _ in os.walk(os.path.join(parent, name), topdown=False):
                    os.rmdir(folder)
            finally:
                os.close(fd)


def _enable(group: str) -> None:
    """Gives the children of `group` what controllers it has. A busy group's own processes move into a child first,
    which is only right where the whole group was handed over to us."""
    with open(f"{group}/cgroup.controllers", encoding="ascii") as file:
        available = set(file.read().split())
    for controller in [name for name in WANTED if name in available]:
        for attempt in (1, 2):
            try:
                _write(f"{group}/cgroup.subtree_control", f"+{controller}")
                break
            except OSError as error:
                if error.errno != errno.EBUSY or attempt == 2 or not _delegated(group):
                    break
                _move_processes(group)


def _delegated(group: str) -> bool:
    """Handed over by systemd (its mark is an xattr), by a container (we see it as the top), or by its owner."""
    for name in ("trusted.delegate", "user.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(group, name) == b"1":
                return True
    owner = os.stat(group).st_uid
    return os.path.samefile(group, _mount_point()) or (owner == os.geteuid() and owner != 0)


def _move_processes(group: str) -> None:
    child = os.path.join(group, _HOST_CHILD)
    with contextlib.suppress(FileExistsError):
        os.mkdir(child)
    with open(f"{group}/cgroup.procs", encoding="ascii") as file:
        pids = file.read().split()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            _write(f"{child}/cgroup.procs", pid)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode("ascii"))
    finally:
        os.close(fd)


def _read_at(directory: int, name: str) -> str:
    fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=directory)
    try:
        return os.read(fd, 65536).decode("ascii", "replace")
    finally:
        os.close(fd)


def _pairs(text: str) -> dict[str, int]:
    return {key: int(value) for key, value in (line.split() for line in text.splitlines()) if value.isdigit()}


@dataclass(slots=True)
class Leaf:
    """One jail's group. `fd` is its directory; closed by `close`, removed by `remove` or by the jail's keeper."""

    home: Home
    name: str
    fd: int
    files: dict[str, int] = field(default_factory=dict)

    @classmethod
    def make(cls, place: Home, name: str) -> Leaf:
        """A new, empty group below `place`."""
        os.mkdir(name, 0o755, dir_fd=place.fd)
        with contextlib.ExitStack() as undo:
            undo.callback(os.rmdir, name, dir_fd=place.fd)
            fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=place.fd)
            undo.pop_all()
        return cls(place, name, fd)

    def read(self, file: str) -> str:
        """What a control file says now; "" where the kernel or the home's controllers do not have it. Files stay open:
        a look costs half of what it costs to open one."""
        fd = self.files.get(file)
        if fd is None:
            try:
                fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.fd)
            except FileNotFoundError:
                fd = -1
            self.files[file] = fd
        return os.pread(fd, 65536, 0).decode("ascii", "replace") if fd >= 0 else ""

    def let_in(self, owner: int) -> None:
        """Lets the host user `owner`, a zygote's, clone into this group."""
        os.chown("cgroup.procs", owner, -1, dir_fd=self.fd)

    def write(self, file: str, text: str) -> None:
        """One value into one control file."""
        fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC, dir_fd=self.fd)
        try:
            os.write(fd, text.encode("ascii"))
        finally:
            os.close(fd)

    def limit(self, memory_bytes: int, processes: int, beside: int = 1) -> None:
        """Sets what the home's controllers can limit. PID 1 and the holder of a warm guest's memory count too."""
        if "memory" in self.home.controllers:
            self.reset_peak()
            self.write("memory.max", str(memory_bytes))
            # No swap: neither a slow death for the guest nor a thrashing host. Absent where the kernel has no swap.
            with contextlib.suppress(FileNotFoundError):
                self.write("memory.swap.max", "0")
            self.write("memory.oom.group", "1")
        if "pids" in self.home.controllers:
            self.write("pids.max", str(processes + beside))

    def cpu_us(self) -> int:
        """CPU time of all processes that were ever here, in microseconds."""
        return _pairs(self.read("cpu.stat"))["usage_usec"]

    def memory_peak(self) -> int | None:
        """Largest charge in bytes; None without the memory controller or before Linux 5.19."""
        text = self.read("memory.peak")
        return int(text) if text else None

    def memory_now(self) -> int | None:
        """What is charged at this moment, in bytes; None without the memory controller."""
        text = self.read("memory.current")
        return int(text) if text else None

    def reset_peak(self) -> bool:
        """Makes memory_peak count from now. False where the kernel cannot (before 6.12): then one leaf serves one run.

        The reset holds for reads through the same open file alone, so that is the one that is kept."""
        if "memory" not in self.home.controllers:
            return True
        try:
            if "memory.peak" not in self.files:
                self.files["memory.peak"] = os.open("memory.peak", os.O_RDWR | os.O_CLOEXEC, dir_fd=self.fd)
            os.write(self.files["memory.peak"], b"0")
        except OSError:  # not there, or not to be written to
            return False
        return True

    def oom_kills(self) -> int:
        """How often the kernel killed here for want of memory; 0 without the controller."""
        return self._event("memory.events", "oom_kill")

    def fork_refusals(self) -> int:
        """How often a fork met pids.max; 0 without the controller."""
        return self._event("pids.events", "max")

    def _event(self, file: str, key: str) -> int:
        return _pairs(self.read(file)).get(key, 0)

    def starved_us(self) -> int:
        """Time in which everybody here that could run had to wait for a CPU (PSI, "full"); 0 where the kernel keeps no
        PSI. "some" would let a guest stretch its own wall limit by starving itself with more processes than CPUs."""
        full = self.read("cpu.pressure").partition("full ")[2]
        total = full.rpartition("total=")[2].strip()
        return int(total) if total.isdigit() else 0

    def pids(self) -> list[int]:
        """Who is in here now."""
        return [int(pid) for pid in self.read("cgroup.procs").split()]

    def kill(self) -> None:
        """SIGKILL to everybody inside, at once and against forks in flight."""
        self.write("cgroup.kill", "1")

    def populated(self) -> bool:
        """True while a process is inside."""
        return bool(_pairs(self.read("cgroup.events"))["populated"])

    def remove(self, seconds: float = 2.0) -> None:
        """Removes the group, waiting for the last process to go. OSError(EBUSY) when it stays longer than that."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                os.rmdir(self.name, dir_fd=self.home.fd)
                break
            except FileNotFoundError:
                break
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.001)
        self.close()

    def close(self) -> None:
        """Lets go of the directory; the group itself stays."""
        for fd in (self.fd, *self.files.values()):
            if fd >= 0:
                os.close(fd)
        self.fd = -1
        self.files.clear()


def inner_home(place: Home, name: str, owner: int) -> Home:
    """A folder of leaves below `place`, between which processes of the host user `owner` may be cloned."""
    os.mkdir(name, 0o755, dir_fd=place.fd)
    path = os.path.join(place.path, name)
    with contextlib.ExitStack() as undo:
        undo.callback(os.rmdir, name, dir_fd=place.fd)
        _enable(path)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        undo.callback(os.close, fd)
        os.chown("cgroup.procs", owner, -1, dir_fd=fd)
        controllers = frozenset(_read_at(fd, "cgroup.subtree_control").split())
        undo.pop_all()
    return Home(fd, path, controllers)


os.register_at_fork(after_in_child=home.cache_clear)  # a child's leaves must not lie among its parent's


def remove_home(place: Home) -> None:
    """Removes an inner home, once its leaves are gone."""
    os.close(place.fd)
    with contextlib.suppress(OSError):  # a leaf that the kernel holds on to keeps it
        os.rmdir(place.path)


def leave() -> None:
    """Removes this process's folder; leaves still in use keep it."""
    if home.cache_info().currsize:
        with contextlib.suppress(OSError):
            os.rmdir(home().path)
