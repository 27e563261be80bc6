"""Every system call, made in a jail, against what the filter's very bytes say, read by an interpreter of BPF.

The kernel has errors of its own that the filter gives too (ENOSYS, EPERM). The control tells them apart: the same calls in
a jail without the filter. What is let in answers as it does there; what is refused mostly does not."""

from __future__ import annotations

import errno
import functools
import json
import platform
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import pytest
from bpf_evaluator import AUDIT_ARCH, RET_ALLOW, RET_ERRNO, RET_KILL_PROCESS, Call, Filter
from jails import PATIENCE, guest

from jailpy import Jail, Limits, Policy, Status, lower
from jailpy.kernel import probe
from jailpy.kernel.seccomp import rules

HIGHEST = 600
X32 = 0x4000_0000
ALL_ONES = 2**64 - 1
#: A bad descriptor, a bad pointer, a bad size, and no bits that a call knows; then no pointer, no size, no bits.
ARGUMENTS = {"ones": (ALL_ONES,) * 6, "zeros": (0,) * 6}
#: The control must not make these: they wait for every disk of the host.
WHOLE_HOST = {162, 306}  # sync, syncfs

#: uretprobe, uprobe. The kernel (x86_64, from 6.14 on) asks no filter about them, since it plants them itself in programs
#: that are traced. Where none was planted, they end in SIGILL and ENXIO.
PAST_FILTERS = {335, 336}

Answer = tuple[int | None, int]


@dataclass(frozen=True)
class Made:
    """One call: how the kernel is entered, what is in its registers."""

    abi: str
    number: int
    args: tuple[int, ...]

    def seen(self) -> Call:
        """What the filter sees of it. The kernel takes 32 bits of the number; int 0x80 gives 32 bits of everything."""
        if self.abi == "i386":
            return Call(_int(self.number), AUDIT_ARCH["i386"], [arg & 0xFFFF_FFFF for arg in self.args])
        return Call(_int(self.number), AUDIT_ARCH["x86_64"], self.args)


def _int(number: int) -> int:
    low = number & 0xFFFF_FFFF
    return low - (1 << 32) if low >> 31 else low


@pytest.fixture(scope="module", autouse=True)
def on_x86_64(unavailable: Callable[[str], NoReturn]) -> None:
    if platform.machine() != "x86_64":
        unavailable("the guest holds machine code of x86_64")


@pytest.fixture(scope="module")
def program() -> Filter:
    return Filter(lower.seccomp_filter(probe.host()))


def make(jail: Jail, calls: Sequence[Made]) -> list[Answer]:
    """What a guest gets for each."""
    listed = json.dumps([[call.abi, call.number, call.args] for call in calls])
    result = jail.run(guest("make_calls"), listed, limits=Limits(cpu_s=PATIENCE, wall_s=PATIENCE))
    assert result.ok, result
    return [tuple(answer) for answer in json.loads(result.stdout)]


Control = Callable[[Sequence[Made]], list[Answer]]


@pytest.fixture(scope="module")
def bare(policy: Policy) -> Control:
    """The same calls with every layer but the filter."""

    @functools.cache
    def made(calls: tuple[Made, ...]) -> list[Answer]:
        with pytest.MonkeyPatch.context() as patch, Jail(policy, workers=1, warm=False) as without:
            patch.setattr(lower, "seccomp_filter", lambda host: b"")
            return make(without, calls)

    return lambda calls: made(tuple(calls))


#: Errors that a refusal can be; an allowed call that ends in one of them is compared with the control.
REFUSALS = {denied.errno for denied in rules.DENIED} | {errno.EPERM, errno.ENOTTY, errno.EOPNOTSUPP, rules.UNKNOWN}


def difference(call: Made, decision: int, answer: Answer, unfiltered: Answer | None) -> str | None:
    """How an answer differs from what the filter decides; None where it does not.

    A call that has no result was let in: it ended its process (exit, rt_sigreturn), or waited until the timer did."""
    value, status = answer
    killed = status & 0x7F
    if decision == RET_KILL_PROCESS:
        same = value is None and killed == signal.SIGSYS
    elif decision == RET_ALLOW:
        same = killed != signal.SIGSYS and (value is None or -value not in REFUSALS or answer == unfiltered)
    else:
        same = decision & ~0xFFFF == RET_ERRNO and value == -(decision & 0xFFFF)
    if call.abi == "x86_64" and call.number in PAST_FILTERS:
        same = same or answer in ((None, signal.SIGILL), (-errno.ENXIO, 0))
    return None if same else f"{call}: the filter says {decision:#x}, the guest got {value}, status {status:#x}"


def differences(calls: Sequence[Made], program: Filter, answers: Sequence[Answer], bare: Sequence[Answer]) -> list[str]:
    decided = [program.decide(call.seen()) for call in calls]
    found = map(difference, calls, decided, answers, bare)
    return [each for each in found if each is not None]


def every(abi: str, args: tuple[int, ...]) -> list[Made]:
    return [Made(abi, number | (X32 if abi == "x32" else 0), args) for number in range(HIGHEST + 1)]


@pytest.mark.parametrize("args", ARGUMENTS.values(), ids=ARGUMENTS)
def test_every_number(jail: Jail, bare: Control, program: Filter, args: tuple[int, ...]) -> None:
    calls = every("x86_64", args)
    harmless = [call for call in calls if call.number not in WHOLE_HOST]
    unfiltered = dict(zip(harmless, bare(harmless), strict=True))
    answers = make(jail, calls)
    control = [unfiltered.get(call, (None, -1)) for call in calls]
    assert differences(calls, program, answers, control) == []
    allowed = Counter(program.decide(call.seen()) for call in calls)[RET_ALLOW]
    assert allowed > 150
    # The guard taken away, the same sweep finds most of the refusals gone. What is left as it was are errors that the
    # kernel gives to anybody without capabilities, and numbers that it does not have.
    assert len(differences(harmless, program, list(unfiltered.values()), list(unfiltered.values()))) > 60


@pytest.mark.parametrize("abi", ["i386", "x32"])
def test_every_number_of_another_abi(jail: Jail, bare: Control, program: Filter, abi: str) -> None:
    calls = every(abi, ARGUMENTS["zeros"])
    assert differences(calls, program, make(jail, calls), [(None, -1)] * len(calls)) == []
    getpid = [Made(abi, 20 if abi == "i386" else X32 | 39, ())]
    assert program.decide(getpid[0].seen()) == RET_KILL_PROCESS
    assert bare(getpid)[0][1] & 0x7F != signal.SIGSYS  # whether or not this kernel was built with it


EDGES = (-1, 1023, 1024, X32 - 1, X32, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 32 | 39, 1 << 63 | 39, 1 << 32 | 165)


def test_numbers_at_the_edges(jail: Jail, bare: Control, program: Filter) -> None:
    calls = [Made("x86_64", number & ALL_ONES, (0,) * 6) for number in EDGES]
    assert differences(calls, program, make(jail, calls), bare(calls)) == []


ALLOW, ENOSYS = rules.ALLOW, rules.UNKNOWN
EPERM, ENOTTY = errno.EPERM, errno.ENOTTY
NO_FAMILY, NO_SUPPORT = errno.EAFNOSUPPORT, errno.EOPNOTSUPP
BAD = ALL_ONES  # as a descriptor or a pointer
HIGH = 1 << 32  # rubbish above the 32 bits that the kernel reads

#: (call's number, arguments, what the rules say), each with a bad descriptor or pointer where it would do something.
CHECKED = {
    "clone, a fork": (56, (17,), ALLOW),
    "clone, a fork with a bad child tid": (56, (0x0120_0011,), ALLOW),
    "clone, thread flags without memory": (56, (0x0001_0000,), ALLOW),
    **{
        f"clone, {name}": (56, (flag | 17,), EPERM)
        for name, flag in {
            "NEWNS": 1 << 17, "NEWCGROUP": 1 << 25, "NEWUTS": 1 << 26, "NEWIPC": 1 << 27, "NEWUSER": 1 << 28,
            "NEWPID": 1 << 29, "NEWNET": 1 << 30, "PARENT": 0x8000, "PTRACE": 0x2000,
        }.items()
    },
    "clone, NEWUSER under rubbish": (56, (HIGH | 1 << 28 | 17,), EPERM),
    "clone, a fork under rubbish": (56, (HIGH | 17,), ALLOW),
    "clone3": (435, (BAD, 88), ENOSYS),
    "unshare nothing": (272, (0,), EPERM),
    "unshare, user": (272, (1 << 28,), EPERM),
    "setns": (308, (BAD, 0), EPERM),
    **{
        f"socket, family {family}": (41, (family, 1, 0), NO_FAMILY)
        for family in (1, 2, 10, 15, 16, 17, 31, 38, 40, 44)
    },
    "socket, datagrams": (41, (2, 2, 0), NO_FAMILY),
    "socket, raw": (41, (2, 3, 0), NO_FAMILY),
    "socketpair, unix stream": (53, (1, 1, 0, BAD), ALLOW),
    "socketpair, unix seqpacket, cloexec": (53, (1, 5 | 0o2000000, 0, BAD), ALLOW),
    "socketpair, unix datagram": (53, (1, 2, 0, BAD), NO_FAMILY),
    "socketpair, netlink": (53, (16, 1, 0, BAD), NO_FAMILY),
    "socketpair, a type under rubbish": (53, (1, HIGH | 2, 0, BAD), NO_FAMILY),
    "bind": (49, (BAD, 0, 0), EPERM),
    "connect": (42, (BAD, 0, 0), EPERM),
    "sendmsg": (46, (BAD, 0, 0x4000), ALLOW),
    "sendmsg, out of band": (46, (BAD, 0, 1), NO_SUPPORT),
    "sendmsg, splice pages": (46, (BAD, 0, 0x0800_0000), NO_SUPPORT),
    "sendto": (44, (BAD, 0, 0, 0), ALLOW),
    "sendto, out of band": (44, (BAD, 0, 0, 1), NO_SUPPORT),
    "recvmsg, out of band": (47, (BAD, 0, 1), NO_SUPPORT),
    "recvfrom, out of band": (45, (BAD, 0, 0, 1), NO_SUPPORT),
    "recvfrom": (45, (BAD, 0, 0, 0), ALLOW),
    "setsockopt, buffer": (54, (BAD, 1, 7), ALLOW),
    "setsockopt, attach filter": (54, (BAD, 1, 26), ENOSYS),
    "setsockopt, attach BPF": (54, (BAD, 1, 50), ENOSYS),
    "setsockopt, TCP ULP": (54, (BAD, 6, 31), ENOSYS),
    "setsockopt, IP tables": (54, (BAD, 0, 64), ENOSYS),
    "fcntl, flags": (72, (BAD, 3), ALLOW),
    "fcntl, record lock": (72, (BAD, 6, 0), ALLOW),
    "fcntl, F_SETLEASE": (72, (BAD, 1024, 0), ENOSYS),
    "fcntl, F_NOTIFY": (72, (BAD, 1026, 0), ENOSYS),
    "fcntl, F_SETPIPE_SZ": (72, (BAD, 1031, 1 << 20), ENOSYS),
    "fcntl, F_SETOWN": (72, (BAD, 8, 1), ENOSYS),
    "fcntl, F_SETSIG": (72, (BAD, 10, 9), ENOSYS),
    "ioctl, TCGETS": (16, (BAD, 0x5401, 0), ALLOW),
    "ioctl, TIOCSTI": (16, (BAD, 0x5412, 0), ENOTTY),
    "ioctl, TIOCSTI under rubbish": (16, (BAD, HIGH | 0x5412, 0), ENOTTY),
    "ioctl, TIOCLINUX": (16, (BAD, 0x541C, 0), ENOTTY),
    "ioctl, TIOCSCTTY": (16, (BAD, 0x540E, 0), ENOTTY),
    "ioctl, FS_IOC_SETFLAGS": (16, (BAD, 0x4008_6602, 0), ENOTTY),
    "ioctl, NS_GET_USERNS": (16, (BAD, 0xB701, 0), ENOTTY),
    "prctl, name": (157, (15, 0), ALLOW),
    "prctl, no new privileges": (157, (39, 0, 0, 0, 0), ALLOW),
    "prctl, PR_SET_SECCOMP": (157, (22, 2, 0), ENOSYS),
    "prctl, PR_SET_PTRACER": (157, (0x5961_6D61, BAD), ENOSYS),
    "prctl, PR_SCHED_CORE": (157, (62, 0), ENOSYS),
    "prctl, PR_SET_MM": (157, (35, 1), ENOSYS),
    "prctl, PR_SET_SECUREBITS": (157, (28, 0), ENOSYS),
    "prctl, PR_CAP_AMBIENT": (157, (47, 4, 0, 0, 0), ENOSYS),
    "prctl, PR_SET_CHILD_SUBREAPER": (157, (36, 1), ENOSYS),
    "prctl, PR_SET_KEEPCAPS": (157, (8, 1), ENOSYS),
    "personality, which": (135, (0xFFFF_FFFF,), ALLOW),
    "personality, READ_IMPLIES_EXEC": (135, (0x0040_0000,), ENOSYS),
    "personality, ADDR_NO_RANDOMIZE": (135, (0x0004_0000,), ENOSYS),
    "personality, 32 bits": (135, (8,), ENOSYS),
    "setrlimit, files": (160, (7, BAD), ALLOW),
    "setrlimit, core": (160, (4, BAD), EPERM),
    "prlimit64, files": (302, (0, 7, BAD, 0), ALLOW),
    "prlimit64, core is asked for": (302, (0, 4, 0, BAD), ALLOW),
    "prlimit64, core is set": (302, (0, 4, BAD, 0), EPERM),
    "mknodat, a FIFO": (259, (BAD, BAD, 0o010644), ALLOW),
    "mknodat, a character device": (259, (BAD, BAD, 0o020644, 0x0101), EPERM),
    "mknodat, a block device": (259, (BAD, BAD, 0o060644, 0x0800), EPERM),
    "mknod, a character device": (133, (BAD, 0o020644, 0x0101), EPERM),
    "seccomp, a strict mode": (317, (0, 1, 0), EPERM),
    "seccomp, a listener": (317, (1, 8, BAD), EPERM),
    "bpf": (321, (0, BAD, 0), EPERM),
    "io_uring_setup": (425, (1, BAD), ENOSYS),
    "userfaultfd": (323, (1,), EPERM),
    "keyctl": (250, (0, BAD), ENOSYS),
    "ptrace, traceme": (101, (0,), EPERM),
    "process_vm_readv": (310, (1, 0, 0, 0, 0, 0), EPERM),
    "pidfd_getfd": (438, (BAD, 0, 0), EPERM),
    "splice": (275, (BAD, 0, BAD, 0, 1, 0), EPERM),
    "sendfile": (40, (BAD, BAD, 0, 1), errno.EINVAL),
    "open_by_handle_at": (304, (BAD, BAD, 0), EPERM),
    "getxattr": (191, (BAD, BAD, 0, 0), NO_SUPPORT),
    "chroot": (161, (BAD,), EPERM),
    "mount": (165, (0, BAD, 0, 0, 0), EPERM),
    "setuid": (105, (0,), EPERM),
    "kexec_load": (246, (0, 0, 0, 0), EPERM),
}


def test_arguments_decide(jail: Jail, bare: Control, program: Filter) -> None:
    calls = [Made("x86_64", number, args) for number, args, _ in CHECKED.values()]
    wanted = {name: RET_ALLOW if outcome == ALLOW else RET_ERRNO | outcome for name, (*_, outcome) in CHECKED.items()}
    assert {name: program.decide(call.seen()) for name, call in zip(CHECKED, calls, strict=True)} == wanted
    control = bare(calls)
    assert differences(calls, program, make(jail, calls), control) == []
    assert len(differences(calls, program, control, control)) > 50


def test_a_refused_call_leaves_the_process_alive_and_a_foreign_one_does_not(jail: Jail) -> None:
    (refused, foreign) = make(jail, [Made("x86_64", 165, ()), Made("i386", 21, ())])
    assert refused == (-errno.EPERM, 0)
    assert foreign[0] is None
    assert foreign[1] & 0x7F == signal.SIGSYS


def test_a_guest_that_is_killed_by_its_filter_says_so(jail: Jail) -> None:
    """By a status of the kernel's: it is one signal among others."""
    code = guest("make_calls").replace("child = os.fork()", "child = 0")
    result = jail.run(code, json.dumps([["i386", 20, []]]))
    assert (result.status, result.signal) == (Status.SIGNALLED, signal.SIGSYS)
