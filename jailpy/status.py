"""What happened to a guest, from kernel facts seen outside its jail. Nothing here knows of tests or rewards."""

from __future__ import annotations

import enum
import signal
from dataclasses import dataclass, field


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

    def describe(self) -> str:
        """One line for a person: how the guest ended."""
        if self.status is Status.EXITED:
            return f"exit code {self.exit_code}"
        if self.status is Status.SIGNALLED and self.signal is not None:
            return f"killed by {signal_name(self.signal)}"
        return {
            Status.CPU_TIME: "CPU time limit",
            Status.WALL_TIME: "wall time limit",
            Status.MEMORY: "memory limit",
            Status.OUTPUT: "output limit",
            Status.PROCESSES: "process limit",
            Status.DISK: "disk limit",
        }.get(self.status, str(self.status.value))


def signal_name(number: int) -> str:
    """`9` to `SIGKILL`; a real-time or unknown number keeps its digits."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
