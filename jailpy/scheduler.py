"""Admission: which run is next, and when there is room for it.

Higher priority first; within a priority callers take turns; within a caller first come, first served. A run starts when
a worker is free and the memory that it may use fits into what the host can promise. The queue is bounded.
"""

from __future__ import annotations

import collections
import concurrent.futures
import heapq
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jailpy.errors import InfrastructureError, Overloaded

T = TypeVar("T")
DEFAULT_QUEUE = 100_000


class DeadlinePassed(InfrastructureError):
    """The run was still waiting when its deadline passed; it was not started."""


@dataclass(slots=True)
class _Work:
    call: Callable[[], Any]
    future: concurrent.futures.Future[Any]
    memory: int
    deadline: float


@dataclass(slots=True)
class _Level:
    """The waiting runs of one priority: a line for each caller, and whose turn it is."""

    lines: dict[Hashable, collections.deque[_Work]] = field(default_factory=dict)
    turns: collections.deque[Hashable] = field(default_factory=collections.deque)

    def add(self, caller: Hashable, work: _Work) -> None:
        if caller not in self.lines:
            self.lines[caller] = collections.deque()
            self.turns.append(caller)
        self.lines[caller].append(work)

    def peek(self) -> _Work:
        return self.lines[self.turns[0]][0]

    def take(self) -> _Work:
        caller = self.turns.popleft()
        line = self.lines[caller]
        work = line.popleft()
        if line:
            self.turns.append(caller)
        else:
            del self.lines[caller]
        return work


class Scheduler:
    """Runs calls on at most `workers` threads, the caller's own included where it would only wait."""

    def __init__(self, workers: int, memory: int, queue: int = DEFAULT_QUEUE) -> None:
        self.workers = workers
        self.memory = memory
        self.queue = queue
        self._levels: dict[int, _Level] = {}
        self._priorities: list[int] = []
        self._waiting = 0
        self._running = 0
        self._promised = 0
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._closed = False
        self._lock = threading.Condition()

    def submit(
        self,
        call: Callable[[], T],
        *,
        memory: int = 0,
        priority: int = 0,
        caller: Hashable = None,
        seconds: float | None = None,
    ) -> concurrent.futures.Future[T]:
        """Queues a call. `seconds`: it must have started by then, or its future holds DeadlinePassed. A future that is
        cancelled before its call starts is never started. Overloaded when the queue is full."""
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        deadline = float("inf") if seconds is None else time.monotonic() + seconds
        with self._lock:
            self._check_open()
            if self._waiting >= self.queue:
                raise Overloaded(f"{self._waiting} runs are waiting, the most that this queue takes; try again later")
            if priority not in self._levels:
                self._levels[priority] = _Level()
                heapq.heappush(self._priorities, -priority)
            self._levels[priority].add(caller, _Work(call, future, memory, deadline))
            self._waiting += 1
            self._need_thread()
            self._lock.notify()
        return future

    def run(self, call: Callable[[], T], *, memory: int = 0) -> T:
        """The call's result: at once and in this thread where nothing waits and there is room, else in its turn."""
        with self._lock:
            self._check_open()
            here = self._waiting == 0 and self._fits(memory)
            if here:
                self._running += 1
                self._promised += memory
        if not here:
            return self.submit(call, memory=memory, caller=threading.get_ident()).result()
        try:
            return call()
        finally:
            self._done(memory)

    def close(self) -> None:
        """Lets running calls end, cancels waiting ones, and waits for the threads."""
        with self._lock:
            self._closed = True
            while (work := self._next()) is not None:
                if work.future.cancel():
                    work.future.set_running_or_notify_cancel()  # whoever waits for it hears of it
            self._lock.notify_all()
            self._lock.wait_for(lambda: self._running == 0)
        for thread in self._threads:
            thread.join()

    def statistics(self) -> dict[str, int]:
        """Waiting and running runs, and bytes promised to them."""
        with self._lock:
            return {"waiting": self._waiting, "running": self._running, "promised_bytes": self._promised}

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("this jail is closed")

    def _fits(self, memory: int) -> bool:
        """One run is always let in, so that a limit above the host's memory cannot block the queue for ever."""
        return self._running == 0 or (self._running < self.workers and self._promised + memory <= self.memory)

    def _need_thread(self) -> None:
        if self._idle < self._waiting and len(self._threads) < self.workers:
            thread = threading.Thread(target=self._work, name=f"jailpy-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _next(self) -> _Work | None:
        """The run whose turn it is, taken off the queue; None where nobody waits."""
        while self._priorities:
            priority = -self._priorities[0]
            level = self._levels[priority]
            if level.turns:
                self._waiting -= 1
                return level.take()
            heapq.heappop(self._priorities)
            del self._levels[priority]
        return None

    def _peek(self) -> _Work | None:
        while self._priorities:
            priority = -self._priorities[0]
            if self._levels[priority].turns:
                return self._levels[priority].peek()
            heapq.heappop(self._priorities)
            del self._levels[priority]
        return None

    def _work(self) -> None:
        while True:
            with self._lock:
                while (head := self._peek()) is None or not self._fits(head.memory):
                    if self._closed and head is None:
                        return
                    self._idle += 1
                    self._lock.wait()
                    self._idle -= 1
                work = self._next()
                assert work is not None
                self._running += 1
                self._promised += work.memory
            try:
                self._perform(work)
            finally:
                self._done(work.memory)

    @staticmethod
    def _perform(work: _Work) -> None:
        if not work.future.set_running_or_notify_cancel():
            return
        if time.monotonic() > work.deadline:
            work.future.set_exception(DeadlinePassed("the run's deadline passed while it waited for its turn"))
            return
        try:
            value = work.call()
        except BaseException as error:  # noqa: BLE001  # the caller's, whatever it is: a thread has nobody else to tell
            work.future.set_exception(error)
        else:
            work.future.set_result(value)

    def _done(self, memory: int) -> None:
        with self._lock:
            self._running -= 1
            self._promised -= memory
            if self._waiting or self._closed:
                self._lock.notify_all()
