"""Things of the host that no guest may see or change: made for an attack, shown to it, and looked at afterwards."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from jailpy.policy import ReadOnly

INSIDE = "/canary"
_CONTENT = b"untouched"
_WATCHED = ("/proc/self/mountinfo", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/sysrq")
_SETTLE_SECONDS = 10.0
_IPC_CREAT, _IPC_EXCL, _IPC_RMID = 0o1000, 0o2000, 0


class Canaries:
    """A folder with a file, a pipe, a program and sockets, all of them open to everybody; listeners; a process; a shared
    memory segment; an inheritable descriptor; a secret in the environment. A context manager."""

    def __init__(self) -> None:
        self.name = f"esc-{secrets.token_hex(4)}"
        self.secret = secrets.token_hex(16)

    def __enter__(self) -> Canaries:
        with contextlib.ExitStack() as undo:
            self._make(undo)
            self._undo = undo.pop_all()
        self._seen = self._look()
        return self

    def __exit__(self, *raised: object) -> None:
        self._undo.close()

    def _make(self, undo: contextlib.ExitStack) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="jailpy-attack-"))
        undo.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.shown, self.hidden = self.folder / "shown", self.folder / "hidden"
        self._fill()
        self.shared = Path(f"/dev/shm/{self.name}")  # the guest is to look for this very path
        self.shared.write_bytes(_CONTENT)
        undo.callback(self.shared.unlink, missing_ok=True)
        self.pipe = os.open(self.shown / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        undo.callback(os.close, self.pipe)
        self.root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        undo.callback(os.close, self.root)
        os.set_inheritable(self.root, True)
        self._listen(undo)
        os.environ["JAILPY_CANARY"] = self.secret
        undo.callback(os.environ.pop, "JAILPY_CANARY", None)
        # Reads from a pipe of ours, so that it ends with this process however that ends.
        quiet = subprocess.DEVNULL
        command = ["cat", "-", self.secret]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)
        undo.callback(self._end_process)
        self.key, segment = _shared_memory()
        undo.callback(_libc.shmctl, segment, _IPC_RMID, None)

    def _fill(self) -> None:
        self.folder.chmod(0o755)
        for folder in (self.shown, self.hidden):
            folder.mkdir()
            folder.chmod(0o777)
            (folder / "file").write_bytes(_CONTENT)
            (folder / "file").chmod(0o666)
        os.mkfifo(self.shown / "pipe")
        (self.shown / "pipe").chmod(0o666)
        program = self.shown / "program"
        shutil.copyfile("/usr/bin/id", program)
        program.chmod(0o4777)

    def _listen(self, undo: contextlib.ExitStack) -> None:
        self.listeners = []
        for address in (("127.0.0.1", 0), f"\0{self.name}", str(self.shown / "socket")):
            family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
            listener = undo.enter_context(socket.socket(family))
            listener.bind(address)
            listener.listen()
            listener.setblocking(False)
            self.listeners.append(listener)
        self.datagrams = undo.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.datagrams.bind(str(self.shown / "datagrams"))
        self.datagrams.setblocking(False)
        for name in ("socket", "datagrams"):
            (self.shown / name).chmod(0o777)

    def _end_process(self) -> None:
        self.process.kill()
        self.process.communicate()

    @property
    def mount(self) -> ReadOnly:
        """What a policy shows to the guest."""
        return ReadOnly(str(self.shown), INSIDE)

    def given(self, *, inside: bool) -> bytes:
        """What a program is told, in a jail or, as a control, outside of any."""
        facts: dict[str, Any] = {
            "name": self.name,
            "secret": self.secret,
            "hidden": str(self.hidden / "file"),
            "shown": INSIDE if inside else str(self.shown),
            "scratch": "/tmp" if inside else str(self.hidden),  # the jail's own
            "shared": str(self.shared),
            "pid": self.process.pid,
            "init": 1 if inside else self.process.pid,
            "port": self.listeners[0].getsockname()[1],
            "abstract": self.name,
            "key": self.key,
        }
        return json.dumps(facts).encode()

    def changes(self) -> list[str]:
        """What is not as it was. Processes that a guest left are ended, so that each is told once."""
        return [*self._differences(), *self._survivors()]

    def _differences(self) -> Iterator[str]:
        now = self._look()
        for what, seen in self._seen.items():
            if now[what] != seen:
                yield f"{what} changed"
        self._seen = now
        if self.process.poll() is not None:
            yield "a process was ended"
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                listener.accept()[0].close()
                yield f"somebody connected to {listener.getsockname()!r}"
        with contextlib.suppress(BlockingIOError):
            self.datagrams.recv(1)
            yield "a datagram came"
        with contextlib.suppress(BlockingIOError):
            if os.read(self.pipe, 1):
                yield "somebody wrote to the pipe"

    def _look(self) -> dict[str, object]:
        seen: dict[str, object] = {path: _text(path) for path in _WATCHED}
        for path in (self.shown / "file", self.hidden / "file", self.shared):
            seen[str(path)] = (path.read_bytes(), path.stat().st_mode) if path.exists() else None
        for folder in (self.shown, self.hidden):
            seen[str(folder)] = sorted(os.listdir(folder))
        return seen

    def _survivors(self) -> list[str]:
        """Processes named by a guest. One whose jail is being taken down has a moment to be gone."""
        ending = []
        for pid in filter(_in_a_jail, self._named()):
            with contextlib.suppress(psutil.NoSuchProcess):
                ending.append(psutil.Process(pid))
        psutil.wait_procs(ending, _SETTLE_SECONDS)
        found = list(self._named())
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return [f"process {pid} survives" for pid in found]

    def _named(self) -> Iterator[int]:
        for entry in os.listdir("/proc"):
            if entry.isdigit() and _text(f"/proc/{entry}/comm") == f"{self.name}\n" and not _dead(entry):
                yield int(entry)


def _dead(pid: str) -> bool:
    return _text(f"/proc/{pid}/stat").rpartition(") ")[2][:1] in ("Z", "X", "")


def _in_a_jail(pid: int) -> bool:
    return len(_text(f"/proc/{pid}/status").partition("NSpid:")[2].partition("\n")[0].split()) > len(
        _text("/proc/self/status").partition("NSpid:")[2].partition("\n")[0].split()
    )


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


_libc = ctypes.CDLL(None, use_errno=True)


def _shared_memory() -> tuple[int, int]:
    """Key and number of a new System V segment that everybody may use."""
    while True:
        key = secrets.randbelow(1 << 30) + 1
        number = _libc.shmget(key, ctypes.c_size_t(4096), _IPC_CREAT | _IPC_EXCL | 0o666)
        if number >= 0:
            return key, number
        if ctypes.get_errno() != 17:  # EEXIST
            raise OSError(ctypes.get_errno(), "shmget")
