"""Rules to BPF bytes, through libseccomp.

The filters of the default policies ship in the package (`generated/`), so a host without libseccomp needs it only for
policies of its own. `python -m jailpy.kernel.seccomp.compile` writes them anew; a test compares.
"""

from __future__ import annotations

import functools
import importlib
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from jailpy.errors import InfrastructureError, UsageError
from jailpy.kernel.seccomp.rules import (
    ALLOW,
    ALLOWED,
    CHECKED,
    DENIED,
    GROUPS,
    MACHINES,
    POINTER,
    UNKNOWN,
    Match,
)

#: What is shipped: file name's part -> the groups that it leaves out.
VARIANTS: dict[str, frozenset[str]] = {"default": frozenset(), "no-memfd": frozenset({"memfd"})}

_GENERATED = Path(__file__).parent / "generated"
_BINARY_TREE = 2


@functools.cache
def load_filter(groups_left_out: frozenset[str] = frozenset(), *, machine: str = platform.machine()) -> bytes:
    """The filter for a policy: the shipped bytes where there are some, else compiled now."""
    _check(groups_left_out, machine)
    for variant, left_out in VARIANTS.items():
        if left_out == groups_left_out:
            return shipped(machine, variant).read_bytes()
    return compile_filter(groups_left_out, machine=machine)


def shipped(machine: str, variant: str) -> Path:
    """Where the bytes of a default policy are."""
    return _GENERATED / f"{machine}-{variant}.bpf"


def compile_filter(groups_left_out: frozenset[str] = frozenset(), *, machine: str = platform.machine()) -> bytes:
    """An array of `struct sock_filter` that decides as `rules` says."""
    _check(groups_left_out, machine)
    seccomp = _libseccomp()
    arch = getattr(seccomp.Arch, machine.upper())
    program = seccomp.SyscallFilter(seccomp.ERRNO(UNKNOWN))
    if arch != seccomp.system_arch():
        program.add_arch(arch)
        program.remove_arch(seccomp.system_arch())
    # libseccomp's own default kills one thread and lets the others of a process go on.
    program.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    program.set_attr(seccomp.Attr.CTL_OPTIMIZE, _BINARY_TREE)
    for call, decision in _decisions(groups_left_out):
        if not _has(seccomp, arch, call, decision):
            continue
        number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, call)  # rules take the native one; libseccomp translates
        for outcome, conditions in _paths(decision):
            if outcome == UNKNOWN:
                continue
            action = seccomp.ALLOW if outcome == ALLOW else seccomp.ERRNO(outcome)
            arguments = [seccomp.Arg(arg, getattr(seccomp, compare), *data) for arg, compare, *data in conditions]
            program.add_rule_exactly(action, number, *arguments)
    return _export(program)


def _check(groups_left_out: frozenset[str], machine: str) -> None:
    for group in sorted(groups_left_out - GROUPS):
        raise UsageError("groups_left_out", f"{group!r} is no group of calls; choose from {', '.join(sorted(GROUPS))}")
    if machine not in MACHINES:
        raise InfrastructureError(f"seccomp: no rules for machine {machine!r}, only for {' and '.join(MACHINES)}")


def _libseccomp() -> ModuleType:
    try:
        # Costs 40 ms and more, and fails on hosts where the shipped filters would do.
        return importlib.import_module("pyseccomp")
    except (ImportError, RuntimeError, OSError) as problem:
        raise InfrastructureError(
            f"seccomp: this policy needs a filter of its own and its compiler cannot be loaded ({problem}). "
            "Install the system package libseccomp2 (on Fedora and Alpine: libseccomp) and the Python package pyseccomp"
        ) from problem


def _decisions(groups_left_out: frozenset[str]) -> Iterator[tuple[str, int | Match]]:
    for allowed in ALLOWED:
        if allowed.group not in groups_left_out:
            yield from ((call, ALLOW) for call in allowed.calls)
    for checked in CHECKED:
        whole = checked.group not in groups_left_out
        yield checked.call, checked.decision if checked.without is None or whole else checked.without
    for denied in DENIED:
        yield from ((call, denied.errno) for call in denied.calls)


def _has(seccomp: ModuleType, arch: int, call: str, decision: int | Match) -> bool:
    """Does this architecture have the call? A call to allow that neither has is a mistake in the rules.

    One to deny may be newer than this libseccomp: without a rule it is denied by the default.
    """
    denied = not isinstance(decision, Match) and decision != ALLOW
    known = any(seccomp.resolve_syscall(getattr(seccomp.Arch, machine.upper()), call) >= 0 for machine in MACHINES)
    if not known and not denied:
        raise InfrastructureError(f"seccomp: libseccomp knows no call {call!r} on {' or '.join(MACHINES)}")
    return known and decision != UNKNOWN and bool(seccomp.resolve_syscall(arch, call) >= 0)


def _paths(decision: int | Match, before: tuple[Any, ...] = ()) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Every way through a decision: its outcome and the comparisons that lead there.

    libseccomp sends a call that meets none of its rules to the default action, so "otherwise" has to be spelled out.
    """
    if not isinstance(decision, Match):
        yield decision, before
        return
    for value in sorted(decision.values):
        yield from _paths(decision.inside, (*before, (decision.arg, "MASKED_EQ", decision.mask, value)))
    if decision.mask == POINTER and len(decision.values) == 1:
        yield from _paths(decision.outside, (*before, (decision.arg, "NE", *decision.values)))
        return
    for mask, value in _complement(decision.mask, decision.values):
        yield from _paths(decision.outside, (*before, (decision.arg, "MASKED_EQ", mask, value)))


def _complement(mask: int, values: frozenset[int]) -> Iterator[tuple[int, int]]:
    """(mask, value) pairs, disjoint, that together match every number within `mask` that is not in `values`.

    Bit by bit from the top, as a routing table would: where no wanted value goes on, the rest is complement.
    """
    prefixes = {0}
    seen = 0
    for position in reversed(range(mask.bit_length())):
        bit = 1 << position
        if not mask & bit:
            continue
        seen |= bit
        wanted = {value & seen for value in values}
        yield from (
            (seen, prefix) for start in sorted(prefixes) for prefix in (start, start | bit) if prefix not in wanted
        )
        prefixes = wanted


def _export(program: Any) -> bytes:
    with os.fdopen(os.memfd_create("jailpy-seccomp", os.MFD_CLOEXEC), "rb") as file:
        program.export_bpf(file)
        file.seek(0)
        return file.read()


def main() -> None:
    """Write every shipped filter."""
    _GENERATED.mkdir(exist_ok=True)
    for machine in MACHINES:
        for variant, left_out in VARIANTS.items():
            shipped(machine, variant).write_bytes(compile_filter(left_out, machine=machine))


if __name__ == "__main__":
    main()
