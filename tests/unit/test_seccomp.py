"""The filters decide exactly as rules.py says, and ship as they are compiled."""

from __future__ import annotations

import dataclasses
import errno
import importlib
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from bpf_evaluator import AUDIT_ARCH, RET_ALLOW, RET_ERRNO, RET_KILL_PROCESS, Call, Filter
from hypothesis import given, settings
from hypothesis import strategies as st

from jailpy.errors import InfrastructureError, UsageError
from jailpy.kernel.seccomp import compile as compiler
from jailpy.kernel.seccomp import rules

X32 = 0x4000_0000
#: What Docker's default profile allows a container without capabilities on x86_64, of 369 names for all architectures:
#: github.com/moby/profiles, seccomp/default.json at 02e898b137aed1024e232d59bcb05e6179b72177.
DOCKER_ALLOWS = 308

VARIANTS = [(machine, variant) for machine in rules.MACHINES for variant in compiler.VARIANTS]
FILTERS = {key: Filter(compiler.shipped(*key).read_bytes()) for key in VARIANTS}

Decision = int | rules.Match


def names(machine: str) -> dict[int, str]:
    """Number -> name of every call that libseccomp knows there."""
    seccomp = importlib.import_module("pyseccomp")
    arch = getattr(seccomp.Arch, machine.upper())
    found = {}
    for number in range(700):
        try:
            found[number] = seccomp.resolve_syscall(arch, number).decode()
        except ValueError:
            continue
    return found


NAMES = {machine: names(machine) for machine in rules.MACHINES}
NUMBERS = {machine: {name: number for number, name in known.items()} for machine, known in NAMES.items()}


def expected_decisions(left_out: frozenset[str]) -> dict[str, Decision]:
    """The rules, read without the compiler."""
    decisions: dict[str, Decision] = {}
    for denied in rules.DENIED:
        decisions.update(dict.fromkeys(denied.calls, denied.errno))
    for checked in rules.CHECKED:
        decisions[checked.call] = checked.decision
        if checked.group in left_out and checked.without is not None:
            decisions[checked.call] = checked.without
    for allowed in rules.ALLOWED:
        outcome = rules.UNKNOWN if allowed.group in left_out else rules.ALLOW
        decisions.update(dict.fromkeys(allowed.calls, outcome))
    return decisions


def expected(decision: Decision, args: list[int]) -> int:
    while isinstance(decision, rules.Match):
        decision = decision.inside if args[decision.arg] & decision.mask in decision.values else decision.outside
    return RET_ALLOW if decision == rules.ALLOW else RET_ERRNO | decision


def matches(decision: Decision) -> Iterator[rules.Match]:
    if isinstance(decision, rules.Match):
        yield decision
        yield from matches(decision.inside)
        yield from matches(decision.outside)


def probes(decision: Decision) -> Iterator[list[int]]:
    """Arguments at every edge of a decision: each value, one beside it, one bit away, rubbish in the upper half."""
    edges: list[set[int]] = [{0} for _ in range(6)]
    for match in matches(decision):
        for value in match.values:
            near = {value, value + 1, max(value - 1, 0)} | {value ^ 1 << bit for bit in range(64)}
            edges[match.arg] |= near | {number | 0xDEAD_BEEF << 32 for number in near if number < 1 << 32}
            edges[match.arg] |= {0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF}
    values = [
        {0} | {value for match in matches(decision) if match.arg == arg for value in match.values} for arg in range(6)
    ]
    for start in itertools.product(*values):
        for arg in range(6):
            yield from ([*start[:arg], edge, *start[arg + 1 :]] for edge in edges[arg])


@pytest.mark.parametrize(("machine", "variant"), VARIANTS)
def test_every_number_is_decided_as_the_rules_say(machine: str, variant: str) -> None:
    program = FILTERS[machine, variant]
    decisions = expected_decisions(compiler.VARIANTS[variant])
    for number in [-1, *range(601), X32 - 1]:
        decision = decisions.get(NAMES[machine].get(number, ""), rules.UNKNOWN)
        args = [0] * 6
        assert program.decide(Call(number, AUDIT_ARCH[machine], args)) == expected(decision, args), number


@pytest.mark.parametrize(("machine", "variant"), VARIANTS)
@pytest.mark.parametrize("checked", rules.CHECKED, ids=lambda checked: checked.call)
def test_every_edge_of_every_argument(machine: str, variant: str, checked: rules.Checked) -> None:
    if checked.call not in NUMBERS[machine]:
        pytest.skip("this architecture does not have the call")
    program, number = FILTERS[machine, variant], NUMBERS[machine][checked.call]
    for args in probes(checked.decision):
        assert program.decide(Call(number, AUDIT_ARCH[machine], args)) == expected(checked.decision, args), args


ARGUMENT = st.one_of(
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 1100),
    st.builds(lambda low, high: low | high << 32, st.integers(0, 1100), st.integers(0, 2**32 - 1)),
    st.builds(lambda bit, more: 1 << bit | more, st.integers(0, 63), st.integers(0, 255)),
)


@settings(max_examples=1000, deadline=None)
@given(
    st.sampled_from(VARIANTS),
    st.sampled_from([checked.call for checked in rules.CHECKED]),
    st.lists(ARGUMENT, min_size=6, max_size=6),
)
def test_any_arguments(key: tuple[str, str], call: str, args: list[int]) -> None:
    machine, variant = key
    if call in NUMBERS[machine]:
        decision = expected_decisions(compiler.VARIANTS[variant])[call]
        got = FILTERS[key].decide(Call(NUMBERS[machine][call], AUDIT_ARCH[machine], args))
        assert got == expected(decision, args)


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(VARIANTS), st.integers(-(2**31), 2**31 - 1), st.integers(0, 2**32 - 1))
def test_another_architecture_kills_the_process(key: tuple[str, str], number: int, arch: int) -> None:
    if arch != AUDIT_ARCH[key[0]]:
        assert FILTERS[key].decide(Call(number, arch)) == RET_KILL_PROCESS


@pytest.mark.parametrize(("machine", "variant"), VARIANTS)
def test_32_bit_programs_and_x32_are_killed(machine: str, variant: str) -> None:
    program = FILTERS[machine, variant]
    for number in range(601):
        for arch in set(AUDIT_ARCH) - {machine}:
            assert program.decide(Call(number, AUDIT_ARCH[arch])) == RET_KILL_PROCESS
        got = program.decide(Call(X32 | number, AUDIT_ARCH[machine]))
        assert got == (RET_KILL_PROCESS if machine == "x86_64" else RET_ERRNO | rules.UNKNOWN)


@pytest.mark.parametrize(
    ("call", "args", "outcome"),
    [
        ("clone", [0x003D_0F00], rules.ALLOW),  # a thread of glibc's
        ("clone", [0x0120_0011], rules.ALLOW),  # a fork of glibc's
        *[("clone", [flag | 17], errno.EPERM) for flag in (1 << 17, *(1 << bit for bit in range(25, 31)))],
        ("clone", [0x8000 | 17], errno.EPERM),
        ("clone", [1 << 32 | 1 << 28], errno.EPERM),
        ("clone3", [], errno.ENOSYS),
        ("unshare", [0x1000_0000], errno.EPERM),
        ("socket", [1, 1, 0], errno.EAFNOSUPPORT),
        ("socketpair", [1, 1 | 0o2000000 | 0o4000, 0], rules.ALLOW),
        ("socketpair", [1, 5 | 0o2000000, 0], rules.ALLOW),  # how Rust starts a process
        ("socketpair", [1, 2, 0], errno.EAFNOSUPPORT),
        ("socketpair", [1, 2 | 1 << 32, 0], errno.EAFNOSUPPORT),
        ("socketpair", [16, 1, 0], errno.EAFNOSUPPORT),
        ("sendmsg", [3, 0, 0x4000], rules.ALLOW),
        ("sendmsg", [3, 0, 0x4001], errno.EOPNOTSUPP),
        ("sendto", [3, 0, 0, 0x0800_0000], errno.EOPNOTSUPP),
        ("ioctl", [0, 0x5401], rules.ALLOW),
        ("ioctl", [0, 0x5412], errno.ENOTTY),  # TIOCSTI
        ("ioctl", [0, 0x5412 | 1 << 32], errno.ENOTTY),
        ("ioctl", [0, 0x541C], errno.ENOTTY),  # TIOCLINUX
        ("fcntl", [0, 1024], errno.ENOSYS),  # F_SETLEASE
        ("fcntl", [0, 1031], errno.ENOSYS),  # F_SETPIPE_SZ
        ("prctl", [15], rules.ALLOW),
        ("prctl", [22], errno.ENOSYS),  # PR_SET_SECCOMP
        ("prctl", [0x5961_6D61], errno.ENOSYS),  # PR_SET_PTRACER
        ("prctl", [62], errno.ENOSYS),  # PR_SCHED_CORE
        ("setsockopt", [3, 1, 26], errno.ENOSYS),  # SO_ATTACH_FILTER
        ("setsockopt", [3, 6, 31], errno.ENOSYS),  # TCP_ULP
        ("personality", [0xFFFF_FFFF], rules.ALLOW),
        ("personality", [0x0040_0000], errno.ENOSYS),  # READ_IMPLIES_EXEC
        ("setrlimit", [7, 1], rules.ALLOW),
        ("setrlimit", [4, 1], errno.EPERM),  # RLIMIT_CORE
        ("prlimit64", [0, 4, 0, 1], rules.ALLOW),
        ("prlimit64", [0, 4, 1 << 40, 0], errno.EPERM),
        ("prlimit64", [0, 0, 1 << 40, 0], rules.ALLOW),
        ("prlimit64", [1, 0, 1 << 40, 0], errno.EPERM),
        ("prlimit64", [1 << 32, 7, 0, 1], errno.EPERM),
        ("mknodat", [0, 0, 0o010644], rules.ALLOW),  # a FIFO
        ("mknodat", [0, 0, 0o020644], errno.EPERM),  # a device
        ("seccomp", [1, 8], errno.EPERM),
        ("io_uring_setup", [], errno.ENOSYS),
        ("keyctl", [], errno.ENOSYS),
        ("ptrace", [], errno.EPERM),
        ("splice", [], errno.EPERM),
        ("sendfile", [], errno.EINVAL),
        ("listxattr", [], errno.EOPNOTSUPP),
    ],
)
def test_attacks_and_needs_by_name(call: str, args: list[int], outcome: int) -> None:
    """Spelled out, so that a change of the rules that opens or breaks one of these has to change a test too."""
    wanted = RET_ALLOW if outcome == rules.ALLOW else RET_ERRNO | outcome
    for (machine, _), program in FILTERS.items():
        assert program.decide(Call(NUMBERS[machine][call], AUDIT_ARCH[machine], args)) == wanted


@pytest.mark.parametrize(("machine", "variant"), VARIANTS)
def test_memfd_is_the_difference_between_the_variants(machine: str, variant: str) -> None:
    got = FILTERS[machine, variant].decide(Call(NUMBERS[machine]["memfd_create"], AUDIT_ARCH[machine]))
    assert got == (RET_ALLOW if variant == "default" else RET_ERRNO | errno.ENOSYS)


def test_a_policy_can_leave_out_locks() -> None:
    program = Filter(compiler.compile_filter(frozenset({"locks"}), machine="x86_64"))
    numbers, arch = NUMBERS["x86_64"], AUDIT_ARCH["x86_64"]
    assert program.decide(Call(numbers["flock"], arch)) == RET_ERRNO | errno.ENOSYS
    assert program.decide(Call(numbers["fcntl"], arch, [3, 6])) == RET_ERRNO | errno.ENOSYS
    assert program.decide(Call(numbers["fcntl"], arch, [3, 1030])) == RET_ALLOW


def test_every_call_is_in_exactly_one_list_and_known() -> None:
    listed = [call for entry in (*rules.ALLOWED, *rules.DENIED) for call in entry.calls]
    listed += [checked.call for checked in rules.CHECKED]
    assert len(listed) == len(set(listed))
    known = set().union(*NUMBERS.values())
    assert not [call for call in listed if call not in known and call not in LATER]
    assert known - set(listed) == set(), "decide about these"


#: Calls that an older libseccomp may not know; they are denied by the default then.
LATER = {"cachestat", "fchmodat2", "futex_requeue", "futex_wait", "futex_wake", "map_shadow_stack", "memfd_secret"}
LATER |= {"futex_waitv", "set_mempolicy_home_node", "process_mrelease", "quotactl_fd"}


def test_at_most_60_percent_of_docker() -> None:
    calls = [call for entry in rules.ALLOWED for call in entry.calls] + [checked.call for checked in rules.CHECKED]
    allowed = [call for call in calls if call in NUMBERS["x86_64"]]
    assert len(allowed) == 184, "the README gives this figure"
    assert len(allowed) <= 0.6 * DOCKER_ALLOWS


@pytest.mark.parametrize(("machine", "variant"), VARIANTS)
def test_shipped_filters_are_what_the_rules_compile_to(machine: str, variant: str) -> None:
    """No drift. Another version of libseccomp may order its tree in another way; then the decisions must be equal."""
    left_out = compiler.VARIANTS[variant]
    fresh = compiler.compile_filter(left_out, machine=machine)
    if fresh == compiler.shipped(machine, variant).read_bytes():
        return
    program, decisions = Filter(fresh), expected_decisions(left_out)
    for number in range(601):
        decision = decisions.get(NAMES[machine].get(number, ""), rules.UNKNOWN)
        for args in probes(decision):
            call = Call(number, AUDIT_ARCH[machine], args)
            assert program.decide(call) == FILTERS[machine, variant].decide(call), "run the compile module again"


def test_a_typo_is_an_error_that_names_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = dataclasses.replace(rules.ALLOWED[0], calls=("read", "wriite"))
    monkeypatch.setattr(compiler, "ALLOWED", (wrong,))
    with pytest.raises(InfrastructureError, match="'wriite'"):
        compiler.compile_filter(machine="x86_64")


def test_unknown_group_and_unknown_machine() -> None:
    with pytest.raises(UsageError, match=r"'memdf'.*memfd"):
        compiler.load_filter(frozenset({"memdf"}))
    with pytest.raises(InfrastructureError, match="'riscv64'"):
        compiler.load_filter(machine="riscv64")


def test_defaults_load_without_libseccomp_and_others_name_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise RuntimeError("Unable to find libseccomp")

    monkeypatch.setattr(importlib, "import_module", missing)
    monkeypatch.delitem(sys.modules, "pyseccomp", raising=False)
    compiler.load_filter.cache_clear()
    default = compiler.load_filter(machine="x86_64")
    assert default is compiler.load_filter(machine="x86_64")
    assert default != compiler.load_filter(frozenset({"memfd"}), machine="x86_64")
    with pytest.raises(InfrastructureError, match="libseccomp2"):
        compiler.load_filter(frozenset({"memfd", "locks"}), machine="x86_64")
