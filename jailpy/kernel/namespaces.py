"""Namespaces and id maps: which flags, and which host ids stand behind the ids inside."""

from __future__ import annotations

import functools
import os
import random
from dataclasses import dataclass

NEW: dict[str, int] = {
    "user_namespace": 0x10000000,
    "mount_namespace": 0x00020000,
    "pid_namespace": 0x20000000,
    "network_namespace": 0x40000000,
    "ipc_namespace": 0x08000000,
    "uts_namespace": 0x04000000,
    "cgroup_namespace": 0x02000000,
}
GUEST_ID = 1000
CAP_SYS_ADMIN = 21

# Above the ranges that Debian gives to people, to containers and to systemd's dynamic users, below 2^31.
FIRST_HOST_ID = 0x70000000
HOST_IDS = 0x0FFFFFFE
_FEWEST_IDS = 1024


@dataclass(frozen=True, slots=True)
class Ids:
    """`uid_map` and `gid_map` as the kernel takes them; `guest` is the guest's id inside."""

    uid_map: str
    gid_map: str
    guest: int
    separate: bool
    deny_setgroups: bool


def choose_ids(user_namespace: bool = True) -> Ids:
    """Ids for one more jail.

    With CAP_SYS_ADMIN: two host ids that nobody else has, one for PID 1 and one for the guest, so that no two jails and
    no jail and its own PID 1 share a user. Without: the caller's own id is all that the kernel lets it map.
    """
    if privileged():
        first, count = _host_range()
        base = first + 2 * random.SystemRandom().randrange(count // 2)
        if not user_namespace:
            return Ids("", "", base + 1, separate=True, deny_setgroups=False)
        both = f"0 {base} 1\n{GUEST_ID} {base + 1} 1\n"
        return Ids(both, both, GUEST_ID, separate=True, deny_setgroups=False)
    if not user_namespace:
        return Ids("", "", os.geteuid(), separate=False, deny_setgroups=False)
    return Ids(f"{GUEST_ID} {os.geteuid()} 1\n", f"{GUEST_ID} {os.getegid()} 1\n", GUEST_ID, False, True)


ZYGOTE_IDS = 4096


@dataclass(frozen=True, slots=True)
class ZygoteIds:
    """`map` gives a zygote's user namespace `count` ids; id 0, the host's `owner`, is the zygote's own, each of its
    jails takes another."""

    map: str
    owner: int
    count: int


def choose_zygote_ids() -> ZygoteIds:
    """Ids for one more zygote. An ordinary user has one to give, so all its jails share that."""
    if not privileged():
        return ZygoteIds(f"0 {os.geteuid()} 1\n", os.geteuid(), 1)
    first, count = _host_range()
    size = min(ZYGOTE_IDS, count // 2)
    owner = first + size * random.SystemRandom().randrange(count // size)
    return ZygoteIds(f"0 {owner} {size}\n", owner, size)


def jail_map(number: int, ids: int) -> str:
    """The map of a zygote's jail number `number`: 0 stays the zygote's, the guest gets an id of its own where it can."""
    return f"{GUEST_ID} 0 1\n" if ids == 1 else f"0 0 1\n{GUEST_ID} {1 + number % (ids - 1)} 1\n"


@functools.cache
def privileged() -> bool:
    """True with CAP_SYS_ADMIN as root, over more than one id: sources can be opened and ids mapped from outside of the
    user namespace. Root in a user namespace of one id is an ordinary user here."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        effective = next(int(line.split()[1], 16) for line in file if line.startswith("CapEff:"))
    return os.geteuid() == 0 and bool(effective >> CAP_SYS_ADMIN & 1) and _host_range()[1] >= _FEWEST_IDS


@functools.cache
def _host_range() -> tuple[int, int]:
    """Host ids that this process may map: its own namespace may hold only some (a container's 65,536, say)."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        ranges = [(int(first), int(count)) for first, _, count in (line.split() for line in file)]
    if any(first <= FIRST_HOST_ID and first + count >= FIRST_HOST_ID + HOST_IDS for first, count in ranges):
        return FIRST_HOST_ID, HOST_IDS
    first, count = max(ranges, key=lambda item: item[1])
    low = first + count // 2  # the lower half is where a container's own users are
    return low, first + count - low
