"""Landlock rules under the mounts: what the guest may read, and the few places where it may write."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass

from jailpy.kernel.spec import LandlockRule

_CREATE_RULESET = 444

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FILE_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 5: 16}  # how many rights each ABI knows: REFER, TRUNCATE, IOCTL_DEV came later
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
READ_ONLY = EXECUTE | READ_FILE | READ_DIR
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1, 2
BIND_TCP, CONNECT_TCP = 1, 2


@dataclass(frozen=True, slots=True)
class Ruleset:
    """What to handle (so: deny by default), and the exceptions."""

    handled_fs: int
    handled_net: int
    scoped: int
    rules: tuple[LandlockRule, ...]


@functools.cache
def abi() -> int:
    """The ABI of the running kernel; 0 where Landlock is absent or switched off."""
    libc = ctypes.CDLL(None, use_errno=True)
    version: int = libc.syscall(_CREATE_RULESET, None, 0, 1)
    return max(version, 0)


def lower(writable: tuple[str, ...], devices: str, version: int) -> Ruleset:
    """Read and execute everywhere, write beneath `writable`, read and write the device nodes in `devices`."""
    if version == 0:
        return Ruleset(0, 0, 0, ())
    known = (1 << max(count for since, count in _FILE_RIGHTS_BY_ABI.items() if since <= version)) - 1
    anything = known & ~(_MAKE_CHAR | _MAKE_BLOCK | IOCTL_DEV)
    rules = [LandlockRule("/", READ_ONLY)]
    rules += [LandlockRule(path, anything) for path in writable]
    rules.append(LandlockRule(devices, (READ_ONLY | WRITE_FILE | TRUNCATE) & known))
    return Ruleset(
        handled_fs=known,
        handled_net=BIND_TCP | CONNECT_TCP if version >= 4 else 0,
        scoped=SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL if version >= 6 else 0,
        rules=tuple(rules),
    )


