"""What happened to a guest, from kernel facts seen outside its jail. Nothing here knows of tests or rewards."""

from __future__ import annotations

import enum
import signal
from dataclasses import dataclass, field

from jailpy.limits import Limits


class Status(enum.Enum):
    """The closed list of outcomes of one guest. Exactly one holds; the first limit that fired wins over how it died."""

    UNSET = "unset"
    EXITED = "exited"
    SIGNALLED = "signalled"
    CPU_TIME = "cpu_time"
    WALL_TIME = "wall_time"
    MEMORY = "memory"
    OUTPUT = "output"
    PROCESSES = "processes"
    DISK = "disk"
    INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True, slots=True)
class Usage:
    """What the whole jail used: seconds of wall and CPU time, bytes of memory at the peak, stages in seconds.

    `memory_source` says what `memory_peak` is: "cgroup" (memory.peak), "sampled" (largest sum of resident
    sizes that was seen), or "rusage" (the largest single process).
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_peak: int = 0
    memory_source: str = "rusage"
    stages: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """One guest's run. `exit_code` is set for EXITED, `signal` for SIGNALLED; neither decides anything on its own. EXITED
    without an exit code: the library ended the guest, as its work was done."""

    status: Status
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    usage: Usage
    enforced: dict[str, str]
    value_frame: bytes = b""
    denied: str = ""

    @property
    def ok(self) -> bool:
        """True when the guest ended by itself with exit code 0."""
        return self.status is Status.EXITED and self.exit_code == 0

    def describe(self, limits: Limits | None = None) -> str:
        """One line for a person: how the guest ended; with `limits`, which one it met, and what it used."""
        if self.status is Status.EXITED:
            return f"exit code {self.exit_code}"
        if self.status is Status.SIGNALLED and self.signal is not None:
            return f"killed by {signal_name(self.signal)}"
        words = _LIMITS.get(self.status, str(self.status.value))
        return words if limits is None else words + self._figures(limits)

    def _figures(self, limits: Limits) -> str:
        usage = self.usage
        match self.status:
            case Status.CPU_TIME:
                return f" of {limits.cpu_s:g} s ({usage.cpu_s:.2f} s used)"
            case Status.WALL_TIME:
                return f" of {limits.wall_s:g} s ({usage.wall_s:.2f} s passed, {usage.cpu_s:.2f} s of CPU time used)"
            case Status.MEMORY:
                return f" of {limits.memory_mb} MiB ({usage.memory_peak / (1 << 20):.0f} MiB at the peak)"
            case Status.OUTPUT:
                return f" of {limits.output_mb:g} MiB"
            case Status.PROCESSES:
                return f" of {limits.processes} processes and threads"
            case Status.DISK:
                return f" of {limits.disk_mb} MiB"
        return ""


_LIMITS = {
    Status.CPU_TIME: "CPU time limit",
    Status.WALL_TIME: "wall time limit",
    Status.MEMORY: "memory limit",
    Status.OUTPUT: "output limit",
    Status.PROCESSES: "process limit",
    Status.DISK: "disk limit",
}


def signal_name(number: int) -> str:
    """`9` to `SIGKILL`; a real-time or unknown number keeps its digits."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
