"""`LaunchSpec` to bytes: the Python side of native/spec.h, which is where the layout is explained.

`tests/unit/test_spec.py` compiles the header and compares every offset, so the two cannot drift.
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass, field

MAGIC = 0x4C49414A
VERSION = 1
MAX_ROWS = 4096

HEADER = struct.Struct("<4IQ10I14I3Q2IiI")
MOUNT_ROW = struct.Struct("<6I4Q")
RLIMIT_ROW = struct.Struct("<3Q")
LANDLOCK_ROW = struct.Struct("<2IQ")
SYSCTL_ROW = struct.Struct("<2I")
REPORT = struct.Struct("<3I3i2I2Q")


class Stage(enum.IntEnum):
    """Where set-up can stop, in the order of native/spec.h."""

    NONE = 0
    SPEC = enum.auto()
    KEEPER = enum.auto()
    SOURCES = enum.auto()
    CLONE = enum.auto()
    IDMAP = enum.auto()
    PARENT_DEATH = enum.auto()
    CGROUP_NAMESPACE = enum.auto()
    HOSTNAME = enum.auto()
    PRIVATE_MOUNTS = enum.auto()
    ROOT = enum.auto()
    MOUNTS = enum.auto()
    SYSCTLS = enum.auto()
    PIVOT = enum.auto()
    SEAL_ROOT = enum.auto()
    SPAWN = enum.auto()
    SESSION = enum.auto()
    STDIO = enum.auto()
    RLIMITS = enum.auto()
    IDS = enum.auto()
    CAPABILITIES = enum.auto()
    NO_NEW_PRIVS = enum.auto()
    LANDLOCK = enum.auto()
    SIGNALS = enum.auto()
    WORKDIR = enum.auto()
    FDS = enum.auto()
    SECCOMP = enum.auto()
    EXEC = enum.auto()
    DROP_INIT = enum.auto()
    JOIN = enum.auto()


class ReportKind(enum.IntEnum):
    """What the helper says."""

    STARTED = 1
    FAULT = 2
    EXITED = 3
    GONE = 4
    STAMPED = 5


class Flag(enum.IntFlag):
    """enum spec_flag."""

    SOURCES_OUTSIDE = 1
    DENY_SETGROUPS = 2
    NEW_ROOT = 4
    SET_IDS = 8
    STAMP = 16
    PARKED = 32
    KEEP_CAPS = 64


class MountKind(enum.IntEnum):
    """enum mount_kind."""

    BIND = 1
    TMPFS = 2
    PROC = 3
    DIR = 4
    FILE = 5
    SYMLINK = 6


@dataclass(frozen=True, slots=True)
class MountOp:
    """One row of the root's recipe. `target` is relative to the new root; `text` holds file system options."""

    kind: MountKind
    target: str
    source: str = ""
    text: str = ""
    mode: int = 0
    owner: int = 0
    attributes: int = 0
    device: int = 0
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Rlimit:
    """One setrlimit(2): soft and hard as the kernel takes them."""

    resource: int
    soft: int
    hard: int


@dataclass(frozen=True, slots=True)
class LandlockRule:
    """`access` is allowed beneath `path` of the new root."""

    path: str
    access: int


@dataclass(frozen=True, slots=True)
class Fault:
    """For tests: the step (stage, index) fails with `errno` instead of being made."""

    stage: Stage
    index: int
    errno: int


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """All that jailpy-init needs to know about one jail."""

    argv: tuple[str, ...]
    envp: tuple[str, ...]
    flags: Flag
    namespaces: int
    uid_map: str = ""
    gid_map: str = ""
    hostname: str = "jail"
    root_at: str = "/tmp"
    workdir: str = "/"
    cgroup_leaf: str = ""
    cgroup_parent: str = ""
    cgroup_home: str = ""
    guest_uid: int = 0
    guest_gid: int = 0
    mounts: tuple[MountOp, ...] = ()
    rlimits: tuple[Rlimit, ...] = ()
    landlock: tuple[LandlockRule, ...] = ()
    landlock_fs: int = 0
    landlock_net: int = 0
    landlock_scoped: int = 0
    sysctls: tuple[tuple[str, str], ...] = ()
    filter: bytes = b""
    fault: Fault | None = field(default=None)


class _Blob:
    """Grows behind the header; equal strings share one place."""

    def __init__(self) -> None:
        self.data = bytearray(HEADER.size)
        self.strings: dict[bytes, int] = {}

    def text(self, value: str) -> int:
        raw = value.encode("utf-8", "surrogateescape")
        if b"\0" in raw:
            raise ValueError(f"NUL in {value!r}")
        if raw not in self.strings:
            self.strings[raw] = len(self.data)
            self.data += raw + b"\0"
        return self.strings[raw]

    def raw(self, value: bytes) -> int:
        self.data += b"\0" * (-len(self.data) % 8)
        at = len(self.data)
        self.data += value
        return at

    def table(self, rows: list[bytes]) -> tuple[int, int]:
        if len(rows) > MAX_ROWS:
            raise ValueError(f"{len(rows)} rows; a spec table holds {MAX_ROWS}")
        return (self.raw(b"".join(rows)), len(rows)) if rows else (0, 0)


def encode(spec: LaunchSpec) -> bytes:
    """The blob that native/spec.c decodes."""
    blob = _Blob()
    texts = [
        blob.text(value)
        for value in (
            spec.uid_map,
            spec.gid_map,
            spec.hostname,
            spec.root_at,
            spec.workdir,
            spec.cgroup_leaf,
            spec.cgroup_parent,
            spec.cgroup_home,
        )
    ]
    mounts = [_mount_row(blob, op) for op in spec.mounts]
    landlock = [LANDLOCK_ROW.pack(blob.text(rule.path), 0, rule.access) for rule in spec.landlock]
    sysctls = [SYSCTL_ROW.pack(blob.text(path), blob.text(value)) for path, value in spec.sysctls]
    argv = [struct.pack("<I", blob.text(value)) for value in spec.argv]
    envp = [struct.pack("<I", blob.text(value)) for value in spec.envp]
    tables = [
        blob.table(mounts),
        blob.table([RLIMIT_ROW.pack(limit.resource, limit.soft, limit.hard) for limit in spec.rlimits]),
        blob.table(landlock),
        blob.table(sysctls),
        blob.table(argv),
        blob.table(envp),
        blob.table([spec.filter[at : at + 8] for at in range(0, len(spec.filter), 8)]),
    ]
    blob.data += b"\0"
    fault = spec.fault or Fault(Stage.NONE, 0, 0)
    HEADER.pack_into(
        blob.data,
        0,
        *(MAGIC, VERSION, len(blob.data), spec.flags, spec.namespaces),
        *(*texts, spec.guest_uid, spec.guest_gid),
        *(number for table in tables for number in table),
        *(spec.landlock_fs, spec.landlock_net, spec.landlock_scoped),
        *(fault.stage, fault.index, fault.errno, 0),
    )
    return bytes(blob.data)


def _mount_row(blob: _Blob, op: MountOp) -> bytes:
    content = blob.raw(op.content) if op.content else 0
    return MOUNT_ROW.pack(
        *(op.kind, blob.text(op.source), blob.text(op.target), blob.text(op.text), op.mode, op.owner),
        *(op.attributes, op.device, content, len(op.content)),
    )


@dataclass(frozen=True, slots=True)
class Report:
    """struct report."""

    kind: ReportKind
    stage: Stage
    index: int
    error: int
    wait_status: int
    init_pid: int
    disk_full: int
    reserved: int
    cpu_us: int
    maxrss_kb: int


def decode_report(data: bytes) -> Report:
    """A report as it came from the socket; ValueError where it is none."""
    if len(data) != REPORT.size:
        raise ValueError(f"a report of {len(data)} bytes")
    kind, stage, *rest = REPORT.unpack(data)
    return Report(ReportKind(kind), Stage(stage), *rest)
