"""Jails prepared ahead: zygotes, the jails that they have parked, and the threads that park more.

A jail is used once. What is used again are slots: a number and an empty cgroup leaf, and those only after a look that
nobody is left in them.
"""

from __future__ import annotations

import collections
import contextlib
import logging
import threading
from collections.abc import Iterator

from jailpy.errors import HelperLost, InfrastructureError
from jailpy.kernel.probe import Host
from jailpy.limits import Limits
from jailpy.policy import Policy
from jailpy.warm import Ordered, Slot, WarmJail, Zygote

log = logging.getLogger("jailpy")

#: One memory layout serves so many jails, then its zygote is replaced.
JAILS_PER_ZYGOTE = 5000
#: What may be left charged to an empty leaf: page cache of files that others will read, dying kernel objects.
_RESIDUE_BYTES = 8 << 20
_RETRY_SECONDS = 1.0
_DRAIN_SECONDS = 60.0
_MOST_USED = 2  # jails that may wait to be taken down, each with a slot and a handful of descriptors
_ORDERS = 2  # on their way at once from one zygote: it forks the next while the last child gets ready


class _Line:
    """One zygote after another, and the thread that has it park jails."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.zygote: Zygote | None = None
        self.slots: list[Slot] = []
        self.slots_made = 0
        self.ordered: collections.deque[Ordered] = collections.deque()
        self.used: collections.deque[WarmJail] = collections.deque()
        self.out = 0  # jails of the present zygote that are parked or in use
        self.failures = 0  # since the last jail that came
        self.thread = threading.Thread(target=self._serve, name="jailpy-park", daemon=True)

    def _serve(self) -> None:
        pool = self.pool
        try:
            while True:
                with pool.changed:
                    while not (self.used or self.ordered or pool.wants_more() or pool.closing):
                        pool.changed.wait()
                    if pool.closing:
                        return
                    more = pool.wants_more() and len(self.ordered) < _ORDERS
                    pool.coming += more
                self._step(more)
                self._clear(all_of_them=False)
        finally:
            self._drop_zygote()

    def _step(self, more: bool) -> None:
        """Orders one more jail, or takes delivery of the one that was ordered first."""
        try:
            if more:
                self._order()
            elif self.ordered:
                self._receive()
        except Exception as error:  # noqa: BLE001  # whoever waits for the jail must hear of it, whatever it is
            log.warning("a jail could not be prepared: %s", error)
            self.failures += 1  # a zygote may die; when the next one brings nothing either, something is wrong
            with self.pool.changed:
                self.pool.coming -= more
                if self.failures > 1:
                    self.pool.failed(error)
            self._drop_zygote()
            if self.failures > 1:
                self.pool.pause(_RETRY_SECONDS)

    def _order(self) -> None:
        if self.zygote is None or self.zygote.made >= JAILS_PER_ZYGOTE:
            self._renew()
        assert self.zygote is not None
        slot = self._slot()
        try:
            self.ordered.append(self.zygote.order(slot, hurry=self.pool.waiting > 0))
        except BaseException:
            self.slots.append(slot)
            raise

    def _receive(self) -> None:
        assert self.zygote is not None
        jail = self.zygote.receive(self.ordered[0])
        self.ordered.popleft()
        self.out += 1
        self.failures = 0
        with self.pool.changed:
            self.pool.coming -= 1
            self.pool.add(self, jail)

    def _slot(self) -> Slot:
        if self.slots:
            return self.slots.pop()
        self.slots_made += 1
        return Slot(self.slots_made)

    def _renew(self) -> None:
        while self.ordered:
            self._receive()
        self._drop_zygote()
        pool = self.pool
        self.zygote = Zygote(pool.policy, pool.limits, pool.host, pool.preload)

    def _drop_zygote(self) -> None:
        """Ends the zygote, once the jails that run have ended: those that are parked or ordered go with it."""
        zygote, self.zygote = self.zygote, None
        if zygote is None:
            return
        with self.pool.changed:
            self.pool.coming -= len(self.ordered)
        for ordered in self.ordered:
            ordered.close()
            self.slots.append(ordered.slot)
        self.ordered.clear()
        for jail in self.pool.withdraw(self):
            jail.discard()
            self.used.append(jail)
        with self.pool.changed:
            self.pool.changed.wait_for(lambda: self.out <= len(self.used) or self.pool.closing, _DRAIN_SECONDS)
        self._clear(all_of_them=True)
        for slot in self.slots:
            slot.retire()
        self.slots.clear()
        zygote.close()

    def _clear(self, *, all_of_them: bool) -> None:
        """Takes down jails that have had their run; while jails are wanted, only as many as pile up."""
        while self.used and (all_of_them or len(self.used) > _MOST_USED or not self.pool.wants_more()):
            jail = self.used.popleft()
            self.out -= 1
            try:
                jail.close()
                self._take_back(jail.slot)
            except (InfrastructureError, OSError) as error:
                log.error("a slot is given up: %s", error)

    def _take_back(self, slot: Slot) -> None:
        leaf = slot.leaf
        if leaf is not None and (leaf.populated() or (leaf.memory_now() or 0) > _RESIDUE_BYTES or not leaf.reset_peak()):
            slot.retire()
        self.slots.append(slot)


class Pool:
    """Parked jails for one policy and one size of private space. Lines start at the first `acquire`."""

    def __init__(
        self, policy: Policy, limits: Limits, host: Host, preload: tuple[str, ...], *, lines: int, parked: int
    ) -> None:
        self.policy = policy
        self.limits = limits
        self.host = host
        self.preload = preload
        self.target = parked
        self.parked: collections.deque[tuple[_Line, WarmJail]] = collections.deque()
        self.coming = 0
        self.running = 0
        self.waiting = 0
        self.error: Exception | None = None
        self.closing = False
        self.changed = threading.Condition()
        self.lines = [_Line(self) for _ in range(lines)]
        self.started = False

    def wants_more(self) -> bool:
        """Whether a line should park one more jail. Jails in use count: what replaces one is made when it has ended, and
        does not compete with its run."""
        return len(self.parked) + self.coming + self.running < self.target + self.waiting

    def add(self, line: _Line, jail: WarmJail) -> None:
        """A line has parked a jail (the lock is held)."""
        self.error = None
        self.parked.append((line, jail))
        self.changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Waits, unless the pool is closed meanwhile."""
        with self.changed:
            self.changed.wait_for(lambda: self.closing, seconds)

    def failed(self, error: Exception) -> None:
        """A line could not park a jail (the lock is held): whoever waits hears why."""
        self.error = error
        self.changed.notify_all()

    def withdraw(self, line: _Line) -> list[WarmJail]:
        """Takes back all jails that `line` has parked."""
        with self.changed:
            mine = [jail for owner, jail in self.parked if owner is line]
            self.parked = collections.deque(pair for pair in self.parked if pair[0] is not line)
        return mine

    @contextlib.contextmanager
    def jail(self) -> Iterator[WarmJail]:
        """A parked jail for one run. InfrastructureError where none can be made."""
        line, jail = self._acquire()
        try:
            yield jail
        except HelperLost:
            # Its zygote is going, and with it the others that it has parked, which may look alive for a moment yet.
            for other in self.withdraw(line):
                other.discard()
                line.used.append(other)
            raise
        finally:
            jail.discard()
            line.used.append(jail)
            with self.changed:
                self.running -= 1
                self.changed.notify_all()

    def _acquire(self) -> tuple[_Line, WarmJail]:
        with self.changed:
            if self.closing:
                raise RuntimeError("this jail is closed")
            if not self.started:
                self.started = True
                for line in self.lines:
                    line.thread.start()
            self.waiting += 1
            try:
                self.changed.notify_all()
                while (taken := self._take()) is None:
                    if self.error is not None:
                        error, self.error = self.error, None
                        raise error
                    self.changed.wait()
                self.running += 1
                return taken
            finally:
                self.waiting -= 1
                self.changed.notify_all()

    def _take(self) -> tuple[_Line, WarmJail] | None:
        """The jail that has waited longest; those whose zygote has died meanwhile are put aside."""
        while self.parked:
            line, jail = self.parked.popleft()
            if jail.alive():
                return line, jail
            jail.discard()
            line.used.append(jail)
            self.changed.notify_all()
        return None

    def close(self) -> None:
        """Ends all zygotes and with them all jails."""
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        if self.started:
            for line in self.lines:
                line.thread.join()
