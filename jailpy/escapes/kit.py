"""What the programs of the pack share. Runs in a jail, beside them, or, for controls, as a plain process."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

_X86_64 = {
    **{"shmget": 29, "socket": 41, "clone": 56, "semget": 64, "msgget": 68, "ptrace": 101, "syslog": 103},
    **{"setuid": 105, "setgroups": 116, "capset": 126, "personality": 135, "sched_setscheduler": 144},
    **{"mlockall": 151, "modify_ldt": 154, "pivot_root": 155, "adjtimex": 159, "chroot": 161, "sync": 162},
    **{"acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168},
    **{"reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175},
    **{"delete_module": 176, "quotactl": 179, "readahead": 187, "getxattr": 191, "io_setup": 206},
    **{"clock_settime": 227, "mbind": 237, "set_mempolicy": 238, "mq_open": 240, "kexec_load": 246},
    **{"add_key": 248, "request_key": 249, "keyctl": 250, "ioprio_set": 251, "migrate_pages": 256},
    **{"mknodat": 259, "unshare": 272, "splice": 275, "tee": 276, "vmsplice": 278, "move_pages": 279},
    **{"inotify_init1": 294, "perf_event_open": 298, "fanotify_init": 300, "prlimit64": 302},
    **{"name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310},
    **{"process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "sched_setattr": 314, "seccomp": 317},
    **{"kexec_file_load": 320, "bpf": 321, "execveat": 322, "userfaultfd": 323, "copy_file_range": 326},
    **{"preadv2": 327, "pkey_alloc": 330},
}
_AARCH64 = {
    **{"io_setup": 0, "getxattr": 8, "inotify_init1": 26, "ioprio_set": 30, "mknodat": 33, "umount2": 39},
    **{"mount": 40, "pivot_root": 41, "chroot": 51, "quotactl": 60, "vmsplice": 75, "splice": 76, "tee": 77},
    **{"sync": 81, "acct": 89, "capset": 91, "personality": 92, "unshare": 97, "kexec_load": 104},
    **{"init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116, "ptrace": 117},
    **{"sched_setscheduler": 119, "reboot": 142, "setuid": 146, "setgroups": 159, "sethostname": 161},
    **{"setdomainname": 162, "settimeofday": 170, "adjtimex": 171, "mq_open": 180, "msgget": 186, "semget": 190},
    **{"shmget": 194, "socket": 198, "readahead": 213, "add_key": 217, "request_key": 218, "keyctl": 219},
    **{"clone": 220, "swapon": 224, "swapoff": 225, "mlockall": 230, "mbind": 235, "set_mempolicy": 237},
    **{"migrate_pages": 238, "move_pages": 239, "perf_event_open": 241, "prlimit64": 261, "fanotify_init": 262},
    **{"name_to_handle_at": 264, "open_by_handle_at": 265, "setns": 268, "process_vm_readv": 270},
    **{"process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "sched_setattr": 274, "seccomp": 277},
    **{"bpf": 280, "execveat": 281, "userfaultfd": 282, "copy_file_range": 285, "preadv2": 286},
    **{"pkey_alloc": 289, "kexec_file_load": 294},
}
_EVERYWHERE = {
    **{"io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "clone3": 435, "openat2": 437},
    **{"pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "memfd_secret": 447, "cachestat": 451},
}
NUMBERS = {**{"x86_64": _X86_64, "aarch64": _AARCH64}.get(os.uname().machine, {}), **_EVERYWHERE}
_PR_SET_NAME = 15
#: Numbers with two names have the one that manuals use.
_NAMES = {errno.EAGAIN: "EAGAIN", errno.EOPNOTSUPP: "EOPNOTSUPP"}

libc = ctypes.CDLL(None, use_errno=True)
#: Where the canaries are: paths, numbers and names that the jail should keep from the program.
given: dict[str, Any] = json.loads(sys.stdin.read())
libc.prctl(_PR_SET_NAME, given["name"].encode(), 0, 0, 0)


def checked(result: int) -> int:
    """OSError for the -1 of libc."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def call(name: str, *arguments: Any) -> int:
    """A system call by its name, past libc; integers are passed whole."""
    whole = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return checked(libc.syscall(ctypes.c_long(NUMBERS[name]), *whole))


def outcome(action: Callable[[], object]) -> str:
    """`worked`, the word that the action gives, or the name of the error."""
    try:
        said = action()
    except OSError as error:
        number = error.errno or 0
        return _NAMES.get(number) or errno.errorcode.get(number, str(error))
    return said if isinstance(said, str) else "worked"


def attempt(action: Callable[[], object]) -> None:
    """Prints the outcome."""
    print(outcome(action), flush=True)


def attempt_any(actions: Iterable[Callable[[], object]]) -> None:
    """Prints `worked` where one of them did, else every error that there was, each once."""
    seen = {outcome(action) for action in actions}
    print("worked" if "worked" in seen else ",".join(sorted(seen)), flush=True)


def in_child(action: Callable[[], object]) -> str:
    """The outcome in a process of its own, for what a process cannot do to itself without harm."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, outcome(action).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with open(reader, encoding="ascii") as pipe:
        return pipe.read()


def secret_in_sight(entry: str) -> bool:
    """Whether the host's secret is in this file of any process that /proc shows."""
    secret = given["secret"].encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/{entry}", "rb") as file:
                if secret in file.read():
                    return True
        except OSError:
            continue
    return False


def make_node(mode: int, major: int, minor: int) -> None:
    """Makes a device node, and takes it away again."""
    path = os.path.join(given["scratch"], "node")
    call("mknodat", -100, path.encode(), mode, os.makedev(major, minor))
    os.unlink(path)


def spin_in_child(seconds: float) -> None:
    """Starts a process that uses so much CPU time."""
    if os.fork() == 0:
        while time.process_time() < seconds:
            pass
        os._exit(0)
