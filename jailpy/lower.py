"""Policy, limits and a program to one launch spec, and the list of what it will enforce. Everything that is decided
about a jail is decided here, before a process of it exists."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from jailpy import languages, roots
from jailpy.errors import LayerMissing
from jailpy.kernel import landlock, namespaces, rlimits
from jailpy.kernel.cgroup import Leaf
from jailpy.kernel.namespaces import NEW, Ids, ZygoteIds
from jailpy.kernel.probe import Host
from jailpy.kernel.seccomp.compile import load_filter
from jailpy.kernel.spec import Fault, Flag, LaunchSpec, Rlimit
from jailpy.limits import Limits
from jailpy.policy import EXTRAS, LAYERS, Policy
from jailpy.roots import File, Places

_NO_MORE_USER_NAMESPACES = (("/proc/sys/user/max_user_namespaces", "0"),)


@dataclass(frozen=True, slots=True)
class Program:
    """What to execute: argv inside the jail, files in the working folder, bytes on stdin."""

    argv: tuple[str, ...]
    files: tuple[File, ...] = ()
    stdin: bytes = b""
    request: bytes = b""
    frame_bytes: int = 0


def enforced(policy: Policy, host: Host) -> dict[str, str]:
    """Layer to how it is enforced. LayerMissing for a layer that is missing and that the policy does not let go."""
    how: dict[str, str] = {}
    for layer in LAYERS:
        lack = host.missing.get(layer)
        if lack is None:
            how[layer] = "on"
        elif layer in policy.allow_degraded or layer in EXTRAS:
            how[layer] = "missing"
        else:
            raise LayerMissing(layer, lack.why, lack.fix)
    if how["memory_cgroup"] == "missing":
        how["memory_cgroup"] = "sampled: resident memory is read every 10 ms and the jail killed above its limit"
    if how["pids_cgroup"] == "missing":
        how["pids_cgroup"] = "rlimit: RLIMIT_NPROC in the jail's user namespace, and sampling"
    return how


def lower(
    program: Program,
    policy: Policy,
    limits: Limits,
    host: Host,
    ids: Ids,
    places: Places,
    leaf: str,
    fault: Fault | None = None,
) -> LaunchSpec:
    """The spec of one cold jail. `leaf` names its cgroup leaf, empty where there is none."""
    flags = base_flags(host)
    new_root = Flag.NEW_ROOT in flags
    rules = landlock.lower(places.writable, "/dev", host.landlock_abi)
    python = languages.interpreter(policy)
    return LaunchSpec(
        argv=program.argv,
        envp=languages.environment(policy, limits.processes, places),
        flags=flags,
        namespaces=sum(NEW[name] for name in host.namespaces),
        uid_map=ids.uid_map,
        gid_map=ids.gid_map,
        workdir=places.work,
        cgroup_leaf=leaf,
        cgroup_parent=host.cgroup.path if host.cgroup else "",
        cgroup_home=host.cgroup.path if host.cgroup else "",
        guest_uid=ids.guest,
        guest_gid=ids.guest,
        mounts=roots.host_root(policy, python.folders, limits, program.files, ids.guest) if new_root else (),
        rlimits=rlimits.lower(
            limits, count_processes="pids_cgroup" in host.missing, beside=0 if ids.separate else 1
        ),
        landlock=rules.rules,
        landlock_fs=rules.handled_fs,
        landlock_net=rules.handled_net,
        landlock_scoped=rules.scoped,
        sysctls=_NO_MORE_USER_NAMESPACES if new_root and "user_namespace" in host.namespaces else (),
        filter=seccomp_filter(host),
        fault=fault,
    )


@dataclass(frozen=True, slots=True)
class ZygoteSpecs:
    """A zygote's own jail, and the jails made from it, whose guests confine themselves by the same spec."""

    zygote: LaunchSpec
    stamp: LaunchSpec


def lower_zygote(
    policy: Policy, limits: Limits, host: Host, ids: ZygoteIds, leaf: Leaf | None
) -> ZygoteSpecs:
    """Specs for warm jails. Needs a host with every namespace; `limits` gives disk_mb and the environment's threads."""
    python = languages.interpreter(policy)
    rules = landlock.lower(roots.INSIDE.writable, "/dev", host.landlock_abi)
    namespaces_all = sum(NEW.values())
    zygote = LaunchSpec(
        argv=(python.executable, f"{roots.INSIDE.driver}/zygote.py"),
        envp=languages.environment(policy, limits.processes, roots.INSIDE),
        flags=base_flags(host) | Flag.STAMP | Flag.KEEP_CAPS,
        # It clones into its jails' leaves, which lie outside of a cgroup namespace that began at its own.
        namespaces=namespaces_all & ~NEW["cgroup_namespace"],
        uid_map=ids.map,
        gid_map=ids.map,
        cgroup_leaf=leaf.name if leaf else "",
        cgroup_parent=leaf.home.path if leaf else "",
        cgroup_home=host.cgroup.path if host.cgroup else "",
        mounts=roots.zygote_root(policy, python.folders),
        rlimits=(Rlimit(resource.RLIMIT_CORE, rlimits.CORE, rlimits.CORE),),
    )
    stamp = LaunchSpec(
        argv=(),
        envp=(),
        flags=Flag.NEW_ROOT | Flag.PARKED | (Flag.SET_IDS if ids.count > 1 else Flag.DENY_SETGROUPS),
        namespaces=namespaces_all & ~NEW["network_namespace"],
        root_at="",
        workdir=roots.INSIDE.work,
        guest_uid=namespaces.GUEST_ID,
        guest_gid=namespaces.GUEST_ID,
        landlock=rules.rules,
        landlock_fs=rules.handled_fs,
        landlock_net=rules.handled_net,
        landlock_scoped=rules.scoped,
        filter=seccomp_filter(host),
        mounts=roots.stamped_root(limits, namespaces.GUEST_ID),
        sysctls=_NO_MORE_USER_NAMESPACES,
    )
    return ZygoteSpecs(zygote, stamp)


def base_flags(host: Host) -> Flag:
    """What holds for every jail on this host."""
    flags = Flag(0)
    root = namespaces.privileged()
    if "mount_namespace" in host.namespaces and "root" not in host.missing:
        flags |= Flag.NEW_ROOT | (Flag.SOURCES_OUTSIDE if root else Flag(0))
    if "user_namespace" in host.namespaces:
        flags |= Flag.SET_IDS if root else Flag.DENY_SETGROUPS
    elif root:
        flags |= Flag.SET_IDS
    return flags


def seccomp_filter(host: Host) -> bytes:
    """The default filter. Where memory is sampled, memfd_create is out: what it holds unmapped, no sample sees."""
    return load_filter(frozenset({"memfd"}) if "memory_cgroup" in host.missing else frozenset())

