"""How much a guest may use."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from jailpy.errors import UsageError

MOST = 1 << 30  # of any unit: a petabyte of memory, 34 years


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one jail, all processes together.

    cpu_s       seconds of CPU time, user and system, of the whole jail
    wall_s      seconds on the clock, the second and larger limit
    memory_mb   MiB of resident memory (memory.max with no swap), never address space
    processes   processes and threads
    output_mb   MiB on stdout and stderr together
    disk_mb     MiB in all writable places together (/tmp, the working folder, /dev/shm)
    open_files  file descriptors of one process
    """

    cpu_s: float = 5.0
    wall_s: float = 15.0
    memory_mb: int = 1024
    processes: int = 64
    output_mb: float = 16.0
    disk_mb: int = 64
    open_files: int = 256

    def __post_init__(self) -> None:
        for spec in fields(self):
            value = getattr(self, spec.name)
            integral = spec.type == "int"
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise UsageError(f"limits.{spec.name}", f"{value!r} is not a finite number")
            if integral and int(value) != value:
                raise UsageError(f"limits.{spec.name}", f"{value!r} must be a whole number")
            if integral:
                object.__setattr__(self, spec.name, int(value))  # 64.0, as some write it in JSON
            if value <= 0:
                raise UsageError(f"limits.{spec.name}", f"{value!r} must be greater than 0")
            if value > MOST:
                raise UsageError(f"limits.{spec.name}", f"{value!r} is more than any host has; give at most {MOST}")
        if self.open_files < 16:
            raise UsageError("limits.open_files", f"{self.open_files} is too few to start a program; give at least 16")

    @property
    def memory_bytes(self) -> int:
        return int(self.memory_mb) << 20

    @property
    def disk_bytes(self) -> int:
        return int(self.disk_mb) << 20

    @property
    def output_bytes(self) -> int:
        return int(self.output_mb * (1 << 20))
