"""What `jailpy doctor` runs inside a jail: tries what is forbidden there and prints what came of it as one JSON object.

A whole program, standard library only. Started outside of a jail with "outside" as its argument, it takes the same
facts there, for comparison.
"""

import contextlib
import ctypes
import errno
import json
import os
import resource
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

NAMESPACES = ("user", "pid", "mnt", "net", "ipc", "uts", "cgroup")
STATUS = ("CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")
CREATE_RULESET, RESTRICT_SELF = 444, 446  # the same numbers on every architecture
KEYCTL = {"x86_64": 250, "aarch64": 219}
MAX_LAYERS = 64
CLONE_NEWUSER, READ_IMPLIES_EXEC, PR_SET_NO_NEW_PRIVS = 0x10000000, 0x0400000, 38
MAKE_SYM, SCOPE_SIGNAL = 1 << 12, 2

libc = ctypes.CDLL(None, use_errno=True)


def tried(call: Callable[[], object]) -> str:
    """The name of the errno with which the kernel refused, or "done"."""
    try:
        call()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    except (ValueError, OverflowError) as error:
        return str(error)
    return "done"


def checked(result: int) -> int:
    """OSError for the -1 of libc."""
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def status(process: str = "self") -> dict[str, str]:
    """What a process has given up, by its status."""
    lines = dict(line.partition(":")[::2] for line in text(f"/proc/{process}/status").splitlines())
    return {key: lines.get(key, "?").strip() for key in STATUS}


def text(path: str) -> str:
    """A small file's text, or why it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(4096)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "?")


def link(path: str) -> str:
    """Where a link points, "" where it cannot be read."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def landlock(attributes: bytes) -> None:
    """One more Landlock layer around this process."""
    fd = checked(libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    try:
        checked(libc.syscall(RESTRICT_SELF, fd, 0))
    finally:
        os.close(fd)


def in_a_child(work: Callable[[], int]) -> int:
    """What `work` gives in a process of its own; -1 where that failed."""
    pid = os.fork()
    if pid == 0:
        code = 255
        with contextlib.suppress(BaseException):
            code = work()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if 0 <= code < 255 else -1


def layers_that_fit() -> int:
    """How many Landlock layers this process may still stack: the kernel allows 16 in all, so those on it show."""
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for count in range(MAX_LAYERS):
        # Each handles the right that needs no rule to keep this program running.
        if tried(lambda: landlock(struct.pack("<Q", MAKE_SYM))) != "done":
            return count
    return MAX_LAYERS


def scope_holds() -> int:
    """1 when a signal from a scoped process to its unscoped parent is refused."""
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    parent = os.getppid()
    os.kill(parent, 0)
    landlock(struct.pack("<3Q", 0, 0, SCOPE_SIGNAL))
    return int(tried(lambda: os.kill(parent, 0)) == "EPERM")


def everywhere() -> dict[str, Any]:
    """Facts that are taken inside and outside."""
    return {
        "namespaces": {name: link(f"/proc/self/ns/{name}") for name in NAMESPACES},
        "hostname": socket.gethostname(),
        "uid_map": [[int(part) for part in line.split()] for line in text("/proc/self/uid_map").splitlines()],
        "uid": os.getuid(),
        "status": status(),
        "landlock_layers": in_a_child(layers_that_fit),
    }


def inside(sentinel: str) -> dict[str, Any]:
    """Facts about the jail. `sentinel` is a folder of the host, open to everybody, with a file named `file` in it."""
    machine = os.uname().machine
    return {
        "pid": os.getpid(),
        "processes": [
            {"pid": int(name), "pid_namespace": link(f"/proc/{name}/ns/pid"), **status(name)}
            for name in listing("/proc")
            if name.isdigit()
        ],
        "other_names_in_proc": sorted(name for name in listing("/proc") if not name.isdigit()),
        "proc_read_only": bool(os.statvfs("/proc").f_flag & os.ST_RDONLY),
        "proc_meminfo": tried(lambda: os.stat("/proc/meminfo")),
        "proc_sys": tried(lambda: os.stat("/proc/sys")),
        "interfaces": [line.split(":")[0].strip() for line in text("/proc/self/net/dev").splitlines()[2:]],
        "cgroup": text("/proc/self/cgroup").strip(),
        "sentinel": tried(lambda: os.stat(os.path.join(sentinel, "file"))),
        "sentinel_write": tried(lambda: os.mkdir(os.path.join(sentinel, "made-by-guest"))),
        "root_names": sorted(listing("/")),
        "root_write": tried(lambda: os.mkdir("/made-by-guest")),
        "usr_write": tried(lambda: os.mkdir("/usr/made-by-guest")),
        "shadow": tried(lambda: os.stat("/etc/shadow")),
        "setuid": tried(lambda: os.setuid(0)),
        "core": resource.getrlimit(resource.RLIMIT_CORE),
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "raise_limit": tried(lambda: resource.setrlimit(resource.RLIMIT_CORE, (2, 2))),
        "unshare": tried(lambda: checked(libc.unshare(CLONE_NEWUSER))),
        "inet": tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()),
        "keyctl": tried(lambda: checked(libc.syscall(KEYCTL[machine], 0, -3, 0))) if machine in KEYCTL else "untried",
        "personality": tried(lambda: checked(libc.personality(READ_IMPLIES_EXEC))),
        "signal_init": tried(lambda: os.kill(1, 0)),
    }


def listing(path: str) -> list[str]:
    """Names in a folder; none where it cannot be read."""
    try:
        return os.listdir(path)
    except OSError:
        return []


def main() -> None:
    """Prints the facts."""
    if sys.argv[1:] == ["outside"]:
        facts = everywhere() | {"scope_holds": in_a_child(scope_holds)}
    else:
        facts = inside(json.load(sys.stdin)["sentinel"]) | everywhere()
    json.dump(facts, sys.stdout)


if __name__ == "__main__":
    main()
