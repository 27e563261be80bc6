"""One direction of talk between two running guests: what the watch of one reads from its stdout, the watch of the other
writes to its stdin. Two links, crossed, and neither guest can block the other's watch."""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass


class Link:
    """Bytes on their way from one guest to another.

    Nobody waits on it: what is put is kept until it is taken, and that is never more than the writer's output limit.

    wake    becomes readable when there is something new for the reader's watch
    killed  the reader was killed because the link was cut, and for no other reason
    """

    def __init__(self) -> None:
        self.wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.ended = False
        self.is_cut = False
        self.killed = False
        self._data = bytearray()
        self._lock = threading.Lock()

    def put(self, data: bytes) -> None:
        """The writer said something."""
        with self._lock:
            self._data += data
        os.eventfd_write(self.wake, 1)

    def end(self) -> None:
        """The writer will say nothing more."""
        with self._lock:
            self.ended = True
        os.eventfd_write(self.wake, 1)

    def cut(self) -> None:
        """The reader is to be killed. It never sees an end, which it might answer before it dies."""
        self.is_cut = True
        os.eventfd_write(self.wake, 1)

    def take(self) -> tuple[bytes, bool]:
        """All that was put and not taken yet, and whether that is the end."""
        with self._lock:
            data, self._data = self._data, bytearray()
            return bytes(data), self.ended

    def calm(self) -> None:
        """Makes `wake` unreadable until the next word."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.wake)

    def close(self) -> None:
        """For whoever made it, when both watches have ended."""
        os.close(self.wake)


@dataclass(frozen=True, slots=True)
class Talk:
    """One guest's part: what it hears on stdin while it runs, and where its stdout goes besides its result.

    leads  it is the one that decides. Its wall time begins with the end of what it hears: until then it waits for somebody
           whose time is limited. And whoever started it passes its end on, knowing how it ended; its watch does not.
    """

    hears: Link
    says: Link
    leads: bool = False
