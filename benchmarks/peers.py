"""The other ways to run a program, as commands of the same interpreter: what is installed, and how it is called.

Every peer runs `python -I -S -c print(1)`, isolated as its manual recommends for untrusted programs, with its output on a
pipe. None has a limit on memory, processes or CPU time here: those would only make it slower.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import PROGRAM
from jailpy import languages
from jailpy.policy import Policy

INTERPRETER = languages.interpreter(Policy())
PYTHON = [INTERPRETER.executable, "-I", "-S", "-c", PROGRAM]
WORKER = str(Path(__file__).parent / "worker.py")
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Peer:
    """One way to run a program: `run` does it once and gives what it printed. None: not installed, see `package`."""

    name: str
    package: str
    run: Callable[[], bytes] | None
    argv: tuple[str, ...] = ()


def peers(scratch: Path) -> list[Peer]:
    """All of them; `scratch` is a folder for their files."""
    return [
        _command("subprocess", "", PYTHON[0], PYTHON),
        _command("bubblewrap", "apt: bubblewrap", "bwrap", ["bwrap", *_bwrap_options(), *PYTHON]),
        _command("firejail", "apt: firejail", "firejail", ["firejail", *_FIREJAIL, *PYTHON]),
        _oci("crun", "apt: crun", ["crun", "--cgroup-manager=disabled", "run"], scratch),
        _oci("runsc", "apt, gvisor.dev: runsc", ["runsc", "--network=none", "--ignore-cgroups", "run"], scratch),
        Peer("sandlock", "pip: sandlock", _sandlock() if importlib.util.find_spec("sandlock") else None),
    ]


_FIREJAIL = ["--quiet", "--noprofile", "--private", "--net=none", "--caps.drop=all", "--seccomp", "--nonewprivs"]


def bwrap_argv() -> list[str] | None:
    """The whole bubblewrap command; None where it is not installed."""
    return ["bwrap", *_bwrap_options(), *PYTHON] if shutil.which("bwrap") else None


def _system() -> list[tuple[str, str]]:
    """(path, link target or empty) of what an interpreter needs to see."""
    found = [(path, os.readlink(path) if os.path.islink(path) else "") for path in ("/bin", "/lib", "/lib64", "/sbin")]
    extra = [(path, "") for path in INTERPRETER.folders if not path.startswith("/usr")]
    return [("/usr", ""), *((path, link) for path, link in found if os.path.exists(path)), *extra]


def _bwrap_options() -> list[str]:
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    for path, link in _system():
        options += ["--symlink", link, path] if link else ["--ro-bind", path, path]
    return [*options, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp"]


def _command(name: str, package: str, program: str, argv: list[str]) -> Peer:
    def run() -> bytes:
        return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout

    return Peer(name, package, run if shutil.which(program) else None, tuple(argv))


def _oci(name: str, package: str, argv: list[str], scratch: Path) -> Peer:
    """A container runtime: a bundle whose root is empty but for the system folders, read-only."""
    if not shutil.which(argv[0]):
        return Peer(name, package, None)
    bundle = scratch / name
    (bundle / "rootfs").mkdir(parents=True)
    (bundle / "config.json").write_text(json.dumps(_oci_config()), encoding="utf-8")

    def run() -> bytes:
        command = [*argv, "--bundle", str(bundle), f"jailpy-bench-{os.getpid()}-{next(_numbers)}"]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout

    return Peer(name, package, run)


def _oci_config() -> dict[str, object]:
    kinds = ("pid", "mount", "network", "ipc", "uts", "cgroup")
    mounts: list[dict[str, object]] = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev"]},
    ]
    for path, _ in _system():
        options = ["rbind", "ro", "nosuid", "nodev"]
        mounts.append({"destination": path, "type": "bind", "source": os.path.realpath(path), "options": options})
    return {
        "ociVersion": "1.0.2",
        "root": {"path": "rootfs"},
        "hostname": "jail",
        "mounts": mounts,
        "process": {
            "user": {"uid": 0, "gid": 0},
            "cwd": "/tmp",
            "args": PYTHON,
            "env": ["PATH=/usr/bin:/bin"],
            "noNewPrivileges": True,
            "capabilities": {},
        },
        "linux": {"namespaces": [{"type": kind} for kind in kinds]},
    }


def _sandlock() -> Callable[[], bytes]:
    def run() -> bytes:
        from sandlock import Sandbox

        readable = [*(path for path, _ in _system()), "/etc", "/proc", "/dev"]
        done = Sandbox(fs_readable=readable, fs_writable=["/tmp"]).run(PYTHON, timeout=60)
        if not done.success:
            raise RuntimeError(f"sandlock: {done}")
        return bytes(done.stdout)

    return run


class Worker:
    """worker.py in an interpreter of its own, the same one that runs guests."""

    def __init__(self, what: dict[str, object]) -> None:
        self.process = subprocess.Popen(
            [INTERPRETER.executable, WORKER, json.dumps(what)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def begin(self, count: int) -> None:
        """Starts so many runs."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()

    def end(self) -> dict[str, object]:
        """Waits for them: {"times", "seconds", "cpu"}."""
        assert self.process.stdout is not None
        answer: dict[str, object] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        """Ends the interpreter."""
        self.process.communicate()


def fork_worker() -> Worker:
    """Bare forks of an interpreter that has imported what a zygote imports."""
    return Worker({"fork": PROGRAM, "preload": list(languages.PRELOAD)})
