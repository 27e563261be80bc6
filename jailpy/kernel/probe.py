"""Asks the running kernel what works, by doing it. Nothing here trusts a version number or a return value alone."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from dataclasses import dataclass

from jailpy.errors import InfrastructureError, SetupError
from jailpy.kernel import cgroup, landlock
from jailpy.kernel.launch import HELPER, launch, missing_helper
from jailpy.kernel.namespaces import NEW, choose_ids, privileged
from jailpy.kernel.spec import Flag, LaunchSpec

ALL_NAMESPACES = tuple(NEW)


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a layer cannot be had here, and the exact change that gives it."""

    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class Host:
    """What this process can have on this host. `missing` names every layer that it cannot, and why."""

    namespaces: frozenset[str]
    landlock_abi: int
    cgroup: cgroup.Home | None
    missing: dict[str, Missing]


_CONTAINER = (
    "in docker or podman run with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined; in Kubernetes set securityContext.procMount: Unmasked, "
    "seccompProfile: Unconfined and hostUsers: false; "
)
_USERNS = (
    _CONTAINER + "on the host set sysctl user.max_user_namespaces=15000, kernel.unprivileged_userns_clone=1 (Debian), "
    "kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), each where it exists."
)
_CGROUP = (
    "run under `systemd-run --user --scope -p Delegate=yes` (or a service with Delegate=yes), in docker add "
    "--security-opt writable-cgroups=true, or name a delegated cgroup v2 folder in JAILPY_CGROUP."
)
_CONTROLLER = (
    "boot with cgroup v2 alone (systemd.unified_cgroup_hierarchy=1), or have the parent group delegate the {0} "
    "controller (echo +{0} > cgroup.subtree_control; for systemd users Delegate=cpu memory pids in user@.service)."
)


def host() -> Host:
    """What works for this process, found out once, by one thread."""
    with _finding_out:
        return _host()


@functools.cache
def _host() -> Host:
    if not os.access(HELPER, os.X_OK):
        raise InfrastructureError(missing_helper())
    missing: dict[str, Missing] = {}
    namespaces = _namespaces(missing)
    place = _cgroup(missing)
    version = landlock.abi()
    if version == 0:
        missing["landlock"] = Missing(
            "the kernel has no Landlock or does not load it",
            "use Linux 5.13 or newer with `landlock` in the lsm= boot parameter (CONFIG_LSM).",
        )
    if version < 6:
        missing["landlock_scopes"] = Missing(f"the Landlock ABI here is {version}, scopes came with 6", "use Linux 6.12.")
    if not privileged():
        missing["separate_uid"] = Missing("an ordinary user can map only its own id", "run as root, in a container or not.")
    return Host(namespaces, version, place, missing)


_finding_out = threading.Lock()


def _forget() -> None:
    """In a forked child: what is found there is its own, and the thread that held the lock is not there."""
    global _finding_out  # noqa: PLW0603  # a lock cannot be taken from a thread that does not exist
    _finding_out = threading.Lock()
    _host.cache_clear()


os.register_at_fork(after_in_child=_forget)


def _namespaces(missing: dict[str, Missing]) -> frozenset[str]:
    if _works(ALL_NAMESPACES) is None:
        return frozenset(ALL_NAMESPACES)
    found: set[str] = set()
    base: tuple[str, ...] = ("user_namespace",)
    reason = _works(base)
    if reason is None:
        found.add("user_namespace")
    else:
        missing["user_namespace"] = Missing(f"a user namespace is refused ({reason})", _USERNS)
        base = ()
    for name in ALL_NAMESPACES[1:]:
        refused = _works((*base, name))
        if refused is None:
            found.add(name)
        else:
            missing[name] = Missing(f"{name.replace('_', ' ')} is refused ({refused})", _USERNS)
    if "mount_namespace" not in found:
        for name in ("root", "proc"):
            missing[name] = Missing("there is no mount namespace to build it in", _USERNS)
    return frozenset(found)


def _works(names: tuple[str, ...]) -> str | None:
    """Makes these namespaces around the helper itself, which exits at once. None, or what went wrong."""
    flags = Flag(0)
    ids = choose_ids()
    if "user_namespace" in names:
        flags |= Flag.DENY_SETGROUPS if ids.deny_setgroups else Flag.SET_IDS
    spec = LaunchSpec(
        argv=(str(HELPER),),
        envp=(),
        flags=flags if "user_namespace" in names and not privileged() else flags & ~Flag.SET_IDS,
        namespaces=sum(NEW[name] for name in names),
        uid_map=ids.uid_map,
        gid_map=ids.gid_map,
    )
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        helper = launch(spec, (null, null, null, -1))
        with contextlib.closing(helper):
            helper.wait_started()
    except SetupError as error:
        return f"{error.stage}: {os.strerror(error.errno)}"
    except InfrastructureError as error:
        return str(error)
    finally:
        os.close(null)
    return None


def _cgroup(missing: dict[str, Missing]) -> cgroup.Home | None:
    try:
        place = cgroup.home()
    except OSError as error:
        why = error.strerror or str(error)
        for name in ("cgroup", "memory_cgroup", "pids_cgroup"):
            missing[name] = Missing(why, _CGROUP)
        return None
    for controller in ("memory", "pids"):
        if controller not in place.controllers:
            missing[f"{controller}_cgroup"] = Missing(
                f"{place.path} has no {controller} controller", _CONTROLLER.format(controller)
            )
    return place
