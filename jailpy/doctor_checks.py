"""What has to be seen before `jailpy doctor` calls a layer OK: one check a layer, each a comparison of facts."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jailpy.kernel.probe import Host
from jailpy.limits import Limits
from jailpy.status import Result, Status

PROBE_LIMITS = Limits(cpu_s=10, wall_s=60, memory_mb=256, open_files=128)
MEMORY_LIMITS = Limits(cpu_s=10, wall_s=60, memory_mb=64)
FORK_LIMITS = Limits(cpu_s=10, wall_s=20, processes=16)
_CAPABILITY_SETS = ("CapPrm", "CapEff", "CapBnd", "CapAmb")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A process as it looks from here: ids, cgroup and id map as this process's namespaces show them."""

    pid_namespace: str
    pid_inside: int
    uid: int
    group: str
    uid_map: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Sleeper:
    """A guest that sleeps until it is killed: itself from outside, how many processes its jail had, and has still."""

    result: Result
    guest: Sighting | None
    processes: int
    left: int


@dataclass(frozen=True, slots=True)
class Seen:
    """All evidence: facts from inside and outside, and how the guests ended that asked for too much."""

    here: Host
    inside: dict[str, Any]
    outside: dict[str, Any]
    memory: Result
    forks: Result
    sleepers: tuple[Sleeper, ...]

    def namespace(self, name: str) -> tuple[bool, str]:
        """A namespace is its own when its link differs from ours."""
        mine, theirs = self.outside["namespaces"][name], self.inside["namespaces"][name]
        own = bool(theirs) and mine != theirs
        return own, f"{theirs or 'unreadable'}, the host's is {mine or 'unreadable'}"


def stand_in(layer: str, seen: Seen) -> tuple[bool, str]:
    """What takes a missing layer's place has to hold too."""
    if layer not in ("memory_cgroup", "pids_cgroup"):
        return True, ""
    result, wanted = (seen.memory, Status.MEMORY) if layer == "memory_cgroup" else (seen.forks, Status.PROCESSES)
    if result.status is wanted:
        return True, f"sampling stands in for it and ended a guest by the {result.describe()}"
    count = result.stdout.strip()
    if wanted is Status.PROCESSES and count.isdigit() and int(count) <= FORK_LIMITS.processes:
        return True, f"an rlimit stands in for it and refused a guest more than {int(count)} forks"
    return False, f"what stands in for it did not stop a guest: {result.describe()}"


def _user_namespace(seen: Seen) -> tuple[bool, str]:
    own, links = seen.namespace("user")
    guest = seen.sleepers[0].guest
    if guest is None:
        return False, f"the guest could not be found from outside; {links}"
    mapped = any(outside <= 0 < outside + count for _, outside, count in guest.uid_map)
    allowed = not mapped or (os.geteuid() == 0 and "separate_uid" in seen.here.missing)
    root = "root's id is in its map" if mapped else "root's id is not in its map"
    return own and allowed, f"uid {seen.inside['uid']} inside is {guest.uid} outside, {root}; {links}"


def _pid_namespace(seen: Seen) -> tuple[bool, str]:
    own, links = seen.namespace("pid")
    foreign = [p["pid"] for p in seen.inside["processes"] if p["pid_namespace"] != seen.inside["namespaces"]["pid"]]
    alone = "proc" in seen.here.missing or not foreign
    return own and alone, f"the guest is process {seen.inside['pid']} and sees {len(foreign)} of other jails; {links}"


def _mount_namespace(seen: Seen) -> tuple[bool, str]:
    own, links = seen.namespace("mnt")
    found = seen.inside["sentinel"]
    return own and found == "ENOENT", f"a host file made just before is {found} inside; {links}"


def _network_namespace(seen: Seen) -> tuple[bool, str]:
    own, links = seen.namespace("net")
    interfaces = seen.inside["interfaces"]
    return own and interfaces == ["lo"], f"interfaces: {', '.join(interfaces)}; {links}"


def _uts_namespace(seen: Seen) -> tuple[bool, str]:
    own, links = seen.namespace("uts")
    return own, f"host name {seen.inside['hostname']!r}; {links}"


def _cgroup_namespace(seen: Seen) -> tuple[bool, str]:
    own, links = seen.namespace("cgroup")
    path = next((line[3:] for line in seen.inside["cgroup"].splitlines() if line.startswith("0::")), "")
    holds = own and (path in ("/", "") or seen.here.cgroup is None)
    return holds, f"its own group is {path or 'hidden'} inside; {links}"


def _root(seen: Seen) -> tuple[bool, str]:
    facts = seen.inside
    wrote = {facts["root_write"], facts["usr_write"]}
    evidence = f"writing to / and /usr: {'/'.join(sorted(wrote))}, /etc/shadow: {facts['shadow']}"
    holds = wrote == {"EROFS"} and facts["shadow"] == "ENOENT" and facts["sentinel"] == "ENOENT"
    return holds, f"{evidence}, / holds {' '.join(facts['root_names'])}"


def _proc(seen: Seen) -> tuple[bool, str]:
    facts = seen.inside
    holds = facts["proc_read_only"] and facts["proc_meminfo"] == facts["proc_sys"] == "ENOENT"
    mode = "read-only" if facts["proc_read_only"] else "writable"
    names = " ".join(facts["other_names_in_proc"])
    return holds, f"{mode}, /proc/meminfo {facts['proc_meminfo']}, /proc/sys {facts['proc_sys']}, beside pids: {names}"


def _cgroup(seen: Seen) -> tuple[bool, str]:
    home = os.path.basename(seen.here.cgroup.path) if seen.here.cgroup else ""
    sleeper = seen.sleepers[0]
    group = sleeper.guest.group if sleeper.guest else "none that could be found"
    killed = sleeper.result.status is Status.WALL_TIME and sleeper.processes > 1 and not sleeper.left
    shown = f"{sleeper.processes} processes in {group}: {sleeper.result.describe()}, {sleeper.left} are left"
    return bool(home) and killed and f"/{home}/" in group, shown


def _memory_cgroup(seen: Seen) -> tuple[bool, str]:
    used = seen.memory.usage
    holds = seen.memory.status is Status.MEMORY and used.memory_source == "cgroup"
    return holds, (
        f"a guest that took more than {MEMORY_LIMITS.memory_mb} MiB: {seen.memory.describe()}, peak "
        f"{used.memory_peak / (1 << 20):.0f} MiB by {used.memory_source}"
    )


def _pids_cgroup(seen: Seen) -> tuple[bool, str]:
    holds = seen.forks.status is Status.PROCESSES
    return holds, f"a fork bomb under {FORK_LIMITS.processes} processes: {seen.forks.describe()}"


def _in_jail(seen: Seen) -> list[dict[str, Any]]:
    """Status of the guest and of every process that shares its jail and that it can see: what it could take over."""
    own = seen.inside["namespaces"]["pid"]
    shared = [p for p in seen.inside["processes"] if p["pid_namespace"] == own]
    return [seen.inside["status"], *(shared if own != seen.outside["namespaces"]["pid"] else [])]


def _capabilities(seen: Seen) -> tuple[bool, str]:
    sets = {name: max((process[name] for process in _in_jail(seen)), key=_bits) for name in _CAPABILITY_SETS}
    shown = ", ".join(f"{name} {value.lstrip('0') or '0'}" for name, value in sets.items())
    none = all(_bits(value) == 0 for value in sets.values())
    return none and seen.inside["setuid"] == "EPERM", f"{shown}, setuid(0): {seen.inside['setuid']}"


def _bits(mask: str) -> int:
    try:
        return int(mask, 16)
    except ValueError:  # not there, which is not none
        return 1 << 64


def _no_new_privs(seen: Seen) -> tuple[bool, str]:
    values = sorted({process["NoNewPrivs"] for process in _in_jail(seen)})
    return values == ["1"], f"NoNewPrivs {' and '.join(values)}"


def _rlimits(seen: Seen) -> tuple[bool, str]:
    core, files = seen.inside["core"], seen.inside["open_files"]
    refused = seen.inside["raise_limit"] != "done"
    holds = core == [1, 1] and files == [PROBE_LIMITS.open_files] * 2 and refused
    return holds, f"core {core}, open files {files}, raising one is {'refused' if refused else 'allowed'}"


def _seccomp(seen: Seen) -> tuple[bool, str]:
    facts = seen.inside
    wanted = {"unshare": "EPERM", "inet": "EAFNOSUPPORT", "personality": "ENOSYS", "keyctl": "ENOSYS"}
    tried = {name: facts[name] for name in wanted if facts[name] != "untried"}
    modes = sorted({process["Seccomp"] for process in _in_jail(seen)})
    shown = ", ".join(f"{name} {value}" for name, value in tried.items())
    holds = modes == ["2"] and all(wanted[name] == value for name, value in tried.items())
    return holds, f"mode {' and '.join(modes)} in the jail's processes, {shown}"


def _landlock(seen: Seen) -> tuple[bool, str]:
    fit, free = seen.inside["landlock_layers"], seen.outside["landlock_layers"]
    shown = f"{free - fit} rule set around the guest: it may stack {fit} more where a process outside may stack {free}"
    if "root" in seen.here.missing:
        write = seen.inside["sentinel_write"]
        return 0 <= fit < free and write == "EACCES", f"{shown}; writing to an open host folder: {write}"
    return 0 <= fit < free, shown


def _landlock_scopes(seen: Seen) -> tuple[bool, str]:
    beside = seen.outside["scope_holds"] == 1
    signal = seen.inside["signal_init"]
    holds = beside and signal in ("EPERM", "ESRCH") and _landlock(seen)[0]
    kept = "is refused" if beside else "arrives"
    return holds, f"a signal out of a scope {kept} (tried beside the jail), to PID 1: {signal}"


def _separate_uid(seen: Seen) -> tuple[bool, str]:
    uids = [sleeper.guest.uid for sleeper in seen.sleepers if sleeper.guest]
    mine = os.geteuid()
    shown = " and ".join(map(str, uids)) or "nowhere"
    return len({*uids, mine}) == 3, f"two guests at once are {shown} outside, this is {mine}"


CHECKS: dict[str, Callable[[Seen], tuple[bool, str]]] = {
    "user_namespace": _user_namespace,
    "pid_namespace": _pid_namespace,
    "mount_namespace": _mount_namespace,
    "network_namespace": _network_namespace,
    "ipc_namespace": lambda seen: seen.namespace("ipc"),
    "uts_namespace": _uts_namespace,
    "cgroup_namespace": _cgroup_namespace,
    "root": _root,
    "proc": _proc,
    "cgroup": _cgroup,
    "memory_cgroup": _memory_cgroup,
    "pids_cgroup": _pids_cgroup,
    "capabilities": _capabilities,
    "no_new_privs": _no_new_privs,
    "rlimits": _rlimits,
    "seccomp": _seccomp,
    "landlock": _landlock,
    "landlock_scopes": _landlock_scopes,
    "separate_uid": _separate_uid,
}
