"""Jails less some layers, for controls: the same spec, but for the rows by which a layer comes about. Tests alone can do
this; no policy can."""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jailpy import Limits, cold, escapes
from jailpy.escapes import Escape, attack
from jailpy.escapes.canaries import INSIDE, Canaries
from jailpy.kernel.namespaces import NEW
from jailpy.kernel.spec import Flag, LaunchSpec, MountKind, MountOp

_HOST_SECONDS = 60
_SANE = ((resource.RLIMIT_CPU, 30), (resource.RLIMIT_FSIZE, 64 << 20), (resource.RLIMIT_CORE, 0))


def _seccomp(spec: LaunchSpec) -> LaunchSpec:
    return replace(spec, filter=b"")


def _landlock(spec: LaunchSpec) -> LaunchSpec:
    return replace(spec, landlock=(), landlock_fs=0, landlock_net=0, landlock_scoped=0)


def _landlock_scopes(spec: LaunchSpec) -> LaunchSpec:
    return replace(spec, landlock_scoped=0)


def _capabilities(spec: LaunchSpec) -> LaunchSpec:
    """The guest is root of its own namespaces, and owns what was made for it."""
    spec = replace(spec, flags=spec.flags | Flag.KEEP_CAPS, guest_uid=0, guest_gid=0)
    spec = replace(spec, mounts=tuple(replace(op, owner=0) for op in spec.mounts))
    if Flag.SET_IDS in spec.flags:
        return spec
    return replace(spec, uid_map=_as_root(spec.uid_map), gid_map=_as_root(spec.gid_map))


def _as_root(one_line: str) -> str:
    """An ordinary user's map, with its one id as that of root."""
    return f"0 {one_line.partition(' ')[2]}"


def _separate_uid(spec: LaunchSpec) -> LaunchSpec:
    """The guest is the user that process 1 is, as it is for an ordinary user anyway."""
    if Flag.SET_IDS not in spec.flags:
        return spec
    return replace(spec, guest_uid=0, guest_gid=0, mounts=tuple(replace(op, owner=0) for op in spec.mounts))


def _rlimits(spec: LaunchSpec) -> LaunchSpec:
    return replace(spec, rlimits=())


def _user_namespace(spec: LaunchSpec) -> LaunchSpec:
    """It stays, but has room for more of them."""
    return replace(spec, sysctls=())


def _without(name: str, spec: LaunchSpec) -> LaunchSpec:
    return replace(spec, namespaces=spec.namespaces & ~NEW[name])


def _root(spec: LaunchSpec) -> LaunchSpec:
    """What is mounted for the canaries has no attributes, and the writable places have no size."""
    return replace(spec, mounts=tuple(map(_bare, spec.mounts)))


def _bare(op: MountOp) -> MountOp:
    if op.target == INSIDE.strip("/"):
        return replace(op, attributes=0)
    return replace(op, text="size=64m,mode=0711") if op.kind is MountKind.TMPFS else op


def _proc(spec: LaunchSpec) -> LaunchSpec:
    """A whole and writable /proc."""
    return replace(
        spec,
        mounts=tuple(replace(op, attributes=0, text="") if op.kind is MountKind.PROC else op for op in spec.mounts),
    )


def _same(spec: LaunchSpec) -> LaunchSpec:
    return spec


#: Guard to what a spec is without it. Those in `BY_LIMITS` go with the technique's own limits instead.
BY_SPEC: dict[str, Callable[[LaunchSpec], LaunchSpec]] = {
    "seccomp": _seccomp,
    "landlock": _landlock,
    "landlock_scopes": _landlock_scopes,
    "capabilities": _capabilities,
    "separate_uid": _separate_uid,
    "rlimits": _rlimits,
    "user_namespace": _user_namespace,
    "root": _root,
    "proc": _proc,
    **{name: functools.partial(_without, name) for name in ("network_namespace", "ipc_namespace", "cgroup_namespace")},
}
BY_LIMITS = frozenset({"monitor", "memory_cgroup", "pids_cgroup"})
ROOMY = Limits(cpu_s=60, wall_s=100, memory_mb=512, processes=256, output_mb=16, disk_mb=64, open_files=1024)


def can_remove(guards: Iterator[str] | list[str]) -> bool:
    """Whether a jail can be made without these."""
    return all(name in BY_SPEC or name in BY_LIMITS for name in guards)


@contextlib.contextmanager
def jails_without(guards: list[str]) -> Iterator[None]:
    """Cold jails that are made meanwhile lack these layers."""
    whole = cold.lower

    def lower(*arguments: Any) -> LaunchSpec:
        spec = whole(*arguments)
        for name in guards:
            spec = BY_SPEC.get(name, _same)(spec)
        return spec

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cold, "lower", lower)
        yield


def in_a_jail_without(guards: list[str], escape: Escape, policy: Any, canaries: Canaries) -> tuple[str, tuple[str, ...]]:
    """The technique in a cold jail that lacks these layers: its word, and what changed."""
    roomy = ROOMY if BY_LIMITS & set(guards) else None
    with jails_without(guards), attack.opened(policy, canaries, "cold") as jail:
        return attack.run(jail, escape, canaries, roomy)


def on_the_host(escape: Escape, canaries: Canaries) -> tuple[str, tuple[str, ...]]:
    """The technique as a plain process, with an inherited descriptor as careless hosts leave them."""
    said = ""
    with tempfile.TemporaryDirectory(prefix="jailpy-attack-") as folder:
        Path(folder, "kit.py").write_bytes(escapes.kit_source())
        Path(folder, "main.py").write_text(escape.code, encoding="utf-8")
        for _ in range(escape.runs):
            done = subprocess.run(
                [sys.executable, "-B", f"{folder}/main.py"],
                input=canaries.given(inside=False),
                capture_output=True,
                timeout=_HOST_SECONDS,
                check=False,
                pass_fds=(canaries.root,),
                cwd=folder,
                preexec_fn=_be_sane,
            )
            lines = done.stdout.decode("utf-8", "replace").split()
            said = lines[-1] if lines else f"exit_{done.returncode}: {done.stderr[-300:]!r}"
    return said, tuple(canaries.changes())


def _be_sane() -> None:
    for name, value in _SANE:
        resource.setrlimit(name, (value, value))


def worked(escape: Escape, seen: str, changes: tuple[str, ...]) -> bool:
    """Whether a control shows the technique at work."""
    return bool(changes) if attack.CANARY in escape.works else seen in escape.works


def is_root() -> bool:
    return os.geteuid() == 0
