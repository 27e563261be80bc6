"""A count on stderr while programs are graded."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_REDRAW_SECONDS = 0.1
_LINE_SECONDS = 10.0
_BAR = 30


class Progress:
    """Rewritten in place on a terminal; elsewhere a plain line every 10 % of `total`, or every 10 s without one."""

    def __init__(self, total: int | None = None, out: TextIO | None = None) -> None:
        self.total = total
        self.out = out or sys.stderr
        self.done = 0
        self.begun = time.monotonic()
        self._in_place = self.out.isatty()
        self._shown_at = self.begun
        self._shown_tenths = 0

    def step(self) -> None:
        """One more is done."""
        self.done += 1
        if self._due():
            self._shown_at = time.monotonic()
            self.out.write(f"\r\033[K{self._line()}" if self._in_place else f"{self._line()}\n")
            self.out.flush()

    def finish(self) -> None:
        """Leaves the last state on a line of its own."""
        if self._in_place:
            self.out.write(f"\r\033[K{self._line()}\n")
            self.out.flush()

    @property
    def rate(self) -> float:
        """Programs a second so far."""
        return self.done / max(time.monotonic() - self.begun, 1e-9)

    def _due(self) -> bool:
        if self._in_place or self.total is None:
            pause = _REDRAW_SECONDS if self._in_place else _LINE_SECONDS
            return time.monotonic() - self._shown_at >= pause
        tenths = self.done * 10 // self.total
        due = tenths > self._shown_tenths
        self._shown_tenths = tenths
        return due

    def _line(self) -> str:
        rate = f"{self.rate:.1f} programs/s"
        if not self.total:
            return f"{self.done} graded, {rate}"
        filled = self.done * _BAR // self.total
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] " if self._in_place else ""
        return f"{bar}{self.done}/{self.total} graded ({self.done * 100 // self.total} %), {rate}"
