"""How far a run is, on stderr."""

from __future__ import annotations

import sys
import time

_SECONDS = 30.0


class Count:
    """A line every 30 s."""

    def __init__(self, total: int, unit: str) -> None:
        self.total = total
        self.unit = unit
        self.done = 0
        self.begun = self.shown = time.monotonic()

    def step(self) -> None:
        """One more is done."""
        self.done += 1
        now = time.monotonic()
        if now - self.shown >= _SECONDS:
            self.shown = now
            print(f"{self.done} of {self.total} {self.unit}, {self.done / (now - self.begun):.1f}/s", file=sys.stderr)
