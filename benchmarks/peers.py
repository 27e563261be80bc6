"""The other ways to run a program, as commands of the same interpreter: what is installed, and how it is called.

Every peer runs `python -I -S -c print(1)`, isolated as its manual recommends for untrusted programs, with its output on
a pipe. None has a limit on memory, processes or CPU time here: those would only make it slower. Commands are spawned by
a small worker process in a cgroup of its own, which counts the CPU of all that takes part.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.common import PROGRAM
from jailpy import languages
from jailpy.policy import Policy

INTERPRETER = languages.interpreter(Policy())
PYTHON = [INTERPRETER.executable, "-I", "-S", "-c", PROGRAM]
WORKER = str(Path(__file__).parent / "worker.py")


@dataclass(frozen=True, slots=True)
class Peer:
    """One way to run a program: a command, or for a library `run`, which gives what was printed. `missing` says what to
    install where neither is there."""

    name: str
    argv: tuple[str, ...] = ()
    run: Callable[[], bytes] | None = None
    missing: str = ""


def peers(scratch: Path) -> list[Peer]:
    """All of them; `scratch` is a folder for their files."""
    return [
        Peer("subprocess", tuple(PYTHON)),
        _command("bubblewrap", "apt: bubblewrap", ["bwrap", *_bwrap_options(), *PYTHON]),
        _command("firejail", "apt: firejail", ["firejail", *_FIREJAIL, *PYTHON]),
        _oci("crun", "apt: crun", ["crun", "--cgroup-manager=disabled", "run"], scratch),
        _oci("runsc", "apt of gvisor.dev: runsc", ["runsc", "--network=none", "--ignore-cgroups", "run"], scratch),
        _sandlock(),
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


def _command(name: str, package: str, argv: list[str]) -> Peer:
    return Peer(name, tuple(argv)) if shutil.which(argv[0]) else Peer(name, missing=package)


def _oci(name: str, package: str, argv: list[str], scratch: Path) -> Peer:
    """A container runtime: a bundle whose root is empty but for the system folders, read-only."""
    bundle = scratch / name
    (bundle / "rootfs").mkdir(parents=True)
    (bundle / "config.json").write_text(json.dumps(_oci_config()), encoding="utf-8")
    return _command(name, package, [*argv, "--bundle", str(bundle), "jailpy-bench-{unique}"])


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


def _sandlock() -> Peer:
    if not importlib.util.find_spec("sandlock"):
        return Peer("sandlock", missing="pip: sandlock")

    def run() -> bytes:
        from sandlock import Sandbox

        readable = [*(path for path, _ in _system()), "/etc", "/proc", "/dev"]
        done = Sandbox(fs_readable=readable, fs_writable=["/tmp"]).run(PYTHON, timeout=60)
        if not done.success:
            raise RuntimeError(f"sandlock: {done}")
        return bytes(done.stdout)

    return Peer("sandlock", run=run)


class Worker:
    """worker.py in an interpreter of its own, the same one that runs guests, and in a cgroup of its own."""

    def __init__(self, what: dict[str, object]) -> None:
        self.process = subprocess.Popen(
            [INTERPRETER.executable, WORKER, json.dumps(what)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.group: Path | None = None
        if (place := common.home()) is not None:
            self.group = place.parent / f"jailpy-bench-{os.getpid()}-{self.process.pid}"
            self.group.mkdir()
            (self.group / "cgroup.procs").write_text(str(self.process.pid), encoding="ascii")
        self.used = 0.0

    def begin(self, count: int, pause: float = 0.0) -> None:
        """Starts so many runs, with a pause after each."""
        assert self.process.stdin is not None
        self.used = self._cpu()
        self.process.stdin.write(f"{count} {pause}\n")
        self.process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """Waits for them: {"times", "seconds", "cpu"}, or {"error"}."""
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        if self.group is not None:
            answer["cpu"] = self._cpu() - self.used
        return answer

    def _cpu(self) -> float:
        return common.stat(self.group, "cpu.stat", "usage_usec") / 1e6 if self.group else 0.0

    def close(self) -> None:
        """Ends the interpreter."""
        self.process.communicate()
        if self.group is not None:
            common.wait_for(lambda: not common.pids(self.group or Path()))
            self.group.rmdir()


def fork_worker() -> Worker:
    """Bare forks of an interpreter that has imported what a zygote imports."""
    return Worker({"fork": PROGRAM, "preload": list(languages.PRELOAD)})
