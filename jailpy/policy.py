"""What a guest may do. Frozen data, checked when it is made; lowered to kernel arguments elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jailpy.errors import UsageError

#: Every layer of isolation, in the order in which `jailpy doctor` prints them. `allow_degraded` takes these names.
LAYERS: tuple[str, ...] = (
    "user_namespace",
    "pid_namespace",
    "mount_namespace",
    "network_namespace",
    "ipc_namespace",
    "uts_namespace",
    "cgroup_namespace",
    "root",
    "proc",
    "cgroup",
    "memory_cgroup",
    "pids_cgroup",
    "capabilities",
    "no_new_privs",
    "rlimits",
    "seccomp",
    "landlock",
    "landlock_scopes",
    "separate_uid",
)

#: Layers on top of others that already stop the same: reported, never demanded.
EXTRAS: frozenset[str] = frozenset({"landlock_scopes", "separate_uid"})

#: What a policy may let go. The rest can be had on every supported host.
DEGRADABLE: frozenset[str] = frozenset(LAYERS) - {"capabilities", "no_new_privs", "rlimits", "seccomp"}


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """A host path that the guest sees, read-only, at `target` (the same place when empty)."""

    source: str
    target: str = ""

    def __post_init__(self) -> None:
        for name, value in (("source", self.source), ("target", self.target or self.source)):
            if value[:1] != "/" or value[:2] == "//" or "\0" in value or os.path.normpath(value) != value:
                raise UsageError(f"ReadOnly.{name}", f"{value!r} must be an absolute path without '..' or '//'")
            _check_encodes(f"ReadOnly.{name}", value)


@dataclass(frozen=True, slots=True)
class Policy:
    """What every guest of a jail may see and do.

    allow_degraded  layers (see LAYERS) that may be missing on this host; the grade says what was enforced
    mounts          more host paths, read-only
    environment     the guest's whole environment beyond PATH, HOME, LANG and TMPDIR; nothing is inherited
    python          interpreter for Python guests; default: the one that runs jailpy, without a venv's packages
    """

    allow_degraded: frozenset[str] = frozenset()
    mounts: tuple[ReadOnly, ...] = ()
    environment: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    python: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "allow_degraded", _layer_names(self.allow_degraded))
        object.__setattr__(self, "mounts", tuple(self.mounts))
        pairs = tuple(sorted(dict(self.environment).items()))
        object.__setattr__(self, "environment", pairs)  # hashable, as a pool's key must be
        for key, value in pairs:
            if not key or "=" in key or "\0" in key + value:
                raise UsageError(f"policy.environment[{key!r}]", "names need text without '=' or NUL, values no NUL")
            _check_encodes(f"policy.environment[{key!r}]", key + value)
        if self.python is not None and not os.access(self.python, os.X_OK):
            raise UsageError("policy.python", f"{self.python!r} is not an executable file")

    @classmethod
    def from_environment(cls) -> Policy:
        """The default policy. JAILPY_ALLOW_DEGRADED (layer names, separated by commas) is the operator's word on which
        layers this host may lack."""
        named = os.environ.get("JAILPY_ALLOW_DEGRADED", "").replace(",", " ").split()
        return cls(allow_degraded=frozenset(named))


def _layer_names(names: Iterable[str]) -> frozenset[str]:
    chosen = frozenset([names] if isinstance(names, str) else names)
    for name in sorted(chosen):
        if name not in LAYERS:
            raise UsageError("policy.allow_degraded", f"{name!r} is no layer; choose from {', '.join(LAYERS)}")
        if name not in DEGRADABLE:
            raise UsageError("policy.allow_degraded", f"{name!r} can be had on every supported host and is never given up")
    return chosen


def _check_encodes(field: str, text: str) -> None:
    """The kernel takes bytes: those that os.fsdecode made text are given back, and nothing else may be a surrogate."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise UsageError(field, f"no bytes stand for {text[error.start]!r}; give text, or os.fsdecode(bytes)") from None
