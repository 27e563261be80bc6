"""What a guest sees as its file system: a root made from nothing, as a table of mounts. Reads the host, changes nothing."""

from __future__ import annotations

import functools
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from jailpy.kernel.spec import MountKind, MountOp
from jailpy.limits import Limits
from jailpy.policy import Policy, ReadOnly

GUEST_CODE = str(Path(__file__).parent / "guest")
RDONLY, NOSUID, NODEV, NOEXEC = 1, 2, 4, 8
INODES_PER_MIB = 256
_PRIVATE = "/.private"

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Loader cache and the links through which Debian names its default programs. Nothing that tells one host from another.
_ETC = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/mime.types", "/etc/java-17-openjdk")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_PASSWD = "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nguest:x:1000:1000:guest:/box:/bin/sh\n"
_GROUP = "root:x:0:\nguest:x:1000:\n"
_ETC_FILES = {
    "passwd": _PASSWD,
    "group": _GROUP,
    "hostname": "jail\n",
    "hosts": "127.0.0.1 localhost jail\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are for the guest: its working folder, the code that jailpy lends it, all that it may write."""

    work: str
    driver: str
    writable: tuple[str, ...]


INSIDE = Places("/box", "/jailpy", ("/box", "/tmp", "/dev/shm"))


def outside(folder: str) -> Places:
    """For a host without mount namespaces: one host folder to work in, guarded by Landlock alone."""
    return Places(folder, GUEST_CODE, (folder,))


@dataclass(frozen=True, slots=True)
class File:
    """A file that the guest finds in its working folder, its own to change."""

    name: str
    content: bytes
    mode: int = 0o644


class _Table:
    """Mount operations in order; folders on the way to a target are made once."""

    def __init__(self) -> None:
        self.ops: list[MountOp] = []
        self.made: set[str] = set()

    def folder(self, path: str, mode: int = 0o755, owner: int = 0) -> None:
        path = path.strip("/")
        if not path or path in self.made:
            return
        self.folder(os.path.dirname(path))
        self.made.add(path)
        self.ops.append(MountOp(MountKind.DIR, path, mode=mode, owner=owner))

    def file(self, path: str, content: bytes = b"", mode: int = 0o444, owner: int = 0) -> None:
        self.folder(os.path.dirname(path))
        self.made.add(path.strip("/"))
        self.ops.append(MountOp(MountKind.FILE, path.strip("/"), content=content, mode=mode, owner=owner))

    def link(self, path: str, to: str) -> None:
        self.folder(os.path.dirname(path))
        self.ops.append(MountOp(MountKind.SYMLINK, path.strip("/"), source=to))

    def bind(self, source: str, target: str, attributes: int, device: int = 0) -> None:
        if os.path.isdir(source):
            self.folder(target)
        else:
            self.file(target)
        self.ops.append(
            MountOp(MountKind.BIND, target.strip("/"), source=source, attributes=attributes, device=device)
        )

    def bind_inner(self, source: str, target: str) -> None:
        """Shows a folder that this table made at a second place."""
        self.ops.append(MountOp(MountKind.BIND, target.strip("/"), source=source.strip("/")))

    def mount(self, kind: MountKind, target: str, attributes: int, text: str) -> None:
        self.folder(target)
        self.ops.append(MountOp(kind, target.strip("/"), attributes=attributes, text=text))


def host_root(
    policy: Policy, interpreters: tuple[str, ...], limits: Limits, files: tuple[File, ...], owner: int
) -> tuple[MountOp, ...]:
    """The default root: the host's /usr and its interpreters, read-only, and private places to write."""
    table = _Table()
    _system(table, policy, interpreters)
    _private(table, limits, owner)
    for file in files:
        _work_file(table, file, owner)
    return tuple(table.ops)


def zygote_root(policy: Policy, interpreters: tuple[str, ...]) -> tuple[MountOp, ...]:
    """The root of a zygote's jail, which every jail made from it shares: all but the private places.

    Its /proc is whole and writable, for the makers of further jails; each of those jails covers it with its own."""
    table = _Table()
    _system(table, policy, interpreters)
    for path in (*INSIDE.writable, _PRIVATE):
        table.folder(path)
    table.mount(MountKind.PROC, "/proc", NOSUID | NODEV | NOEXEC, "")
    return tuple(table.ops)


def stamped_root(limits: Limits, owner: int) -> tuple[MountOp, ...]:
    """What one jail adds to its zygote's root."""
    table = _Table()
    table.made |= {path.strip("/") for path in (*INSIDE.writable, _PRIVATE, "/proc", "/dev")}
    _private(table, limits, owner)
    return tuple(table.ops)


def _system(table: _Table, policy: Policy, interpreters: tuple[str, ...]) -> None:
    table.bind("/usr", "/usr", RDONLY | NOSUID | NODEV)
    for path in _SYSTEM:
        if os.path.islink(path):
            table.link(path, os.readlink(path))
        elif os.path.isdir(path):
            table.bind(path, path, RDONLY | NOSUID | NODEV)
    for name, text in _ETC_FILES.items():
        table.file(f"/etc/{name}", text.encode())
    for path in _ETC:
        if os.path.exists(path):
            table.bind(os.path.realpath(path), path, RDONLY | NOSUID | NODEV | NOEXEC)
    for name in _DEVICES:
        table.bind(f"/dev/{name}", f"/dev/{name}", NOSUID | NOEXEC, device=_device(f"/dev/{name}"))
    for name, to in {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}.items():
        table.link(f"/dev/{name}", f"/proc/self/fd{to}")
    extra = [ReadOnly(path) for path in interpreters if not path.startswith("/usr/")]
    for mount in (*extra, *policy.mounts, ReadOnly(GUEST_CODE, INSIDE.driver)):
        table.bind(mount.source, mount.target or mount.source, RDONLY | NOSUID | NODEV)


@functools.cache
def _device(path: str) -> int:
    found = os.stat(path)
    return found.st_rdev if stat.S_ISCHR(found.st_mode) else 0


def _private(table: _Table, limits: Limits, owner: int) -> None:
    """Its own /proc, and one tmpfs behind all writable places, so that disk_mb bounds their sum."""
    table.mount(MountKind.PROC, "/proc", RDONLY | NOSUID | NODEV | NOEXEC, "subset=pid,hidepid=invisible")
    inodes = max(limits.disk_mb * INODES_PER_MIB, 1024)
    table.mount(
        MountKind.TMPFS, _PRIVATE, NOSUID | NODEV, f"size={limits.disk_bytes},nr_inodes={inodes},mode=0711"
    )
    for path in INSIDE.writable:
        inner = f"{_PRIVATE}/{os.path.basename(path)}"
        own = path == INSIDE.work
        table.folder(path)
        table.folder(inner, mode=0o755 if own else 0o1777, owner=owner if own else 0)
        table.bind_inner(inner, path)


def _work_file(table: _Table, file: File, owner: int) -> None:
    folders = file.name.split("/")[:-1]
    for depth in range(len(folders)):
        table.folder("/".join([INSIDE.work, *folders[: depth + 1]]), owner=owner)
    table.file(f"{INSIDE.work}/{file.name}", file.content, mode=file.mode, owner=owner)
