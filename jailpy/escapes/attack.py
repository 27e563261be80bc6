"""The pack against this host's jails, cold and warm. What a program says of itself is compared with what it should have
met; whether anything outside of its jail changed is looked at from outside."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from jailpy import escapes, warm
from jailpy.errors import InfrastructureError
from jailpy.escapes import Escape, Guard
from jailpy.escapes.canaries import Canaries
from jailpy.jail import Jail
from jailpy.kernel.probe import Host, host
from jailpy.limits import Limits
from jailpy.policy import Policy
from jailpy.status import Result, Status, signal_name

CANARY = "canary"


@dataclass(frozen=True, slots=True)
class Trial:
    """One technique in one kind of jail: the word that was seen, the guard that it should meet, and what changed."""

    escape: Escape
    way: str
    seen: str
    guard: Guard
    changes: tuple[str, ...]

    @property
    def contained(self) -> bool:
        """Stopped by what should stop it, with nothing outside changed."""
        return self.seen in self.guard.words and not self.changes


def word(result: Result) -> str:
    """How a guest ended, as one word: its last line, or the status where it did not come to its end."""
    if result.status is Status.SIGNALLED and result.signal is not None:
        return signal_name(result.signal)
    if result.status is not Status.EXITED:
        return str(result.status.value)
    if result.exit_code != 0:
        return f"exit_{result.exit_code}"
    lines = result.stdout.decode("utf-8", "replace").split()
    return lines[-1] if lines else "silent"


def run(jail: Jail, escape: Escape, canaries: Canaries, limits: Limits | None = None) -> tuple[str, tuple[str, ...]]:
    """One technique in a jail: its word, and what changed outside. No guard says "not judged"."""
    seen = ""
    for _ in range(escape.runs):
        files = {"kit.py": escapes.kit_source()}
        try:
            done = jail.run(escape.code, canaries.given(inside=True), files=files, limits=limits or escape.limits)
        except InfrastructureError as error:
            return f"not judged ({error})", tuple(canaries.changes())
        seen = word(done)
    return seen, tuple(canaries.changes())


def expected(escape: Escape, here: Host) -> Guard:
    """The first guard that this host has."""
    facing = escape.facing(tuple(here.missing))
    if not facing:
        raise InfrastructureError(f"{escape.name}: this host has none of the layers that stop it")
    return facing[0]


@contextlib.contextmanager
def opened(policy: Policy, canaries: Canaries, way: str) -> Iterator[Jail]:
    """A jail whose guests are shown the canaries."""
    shown = replace(policy, mounts=(*policy.mounts, canaries.mount))
    with Jail(shown, escapes.LIMITS, workers=1, warm=way == "warm") as jail:
        yield jail


def ways() -> tuple[str, ...]:
    """How jails come about on this host."""
    return ("cold", "warm") if warm.possible(host()) else ("cold",)


def all_of(pack: Iterable[Escape], policy: Policy) -> Iterator[Trial]:
    """Every technique in every kind of jail."""
    chosen = list(pack)
    with Canaries() as canaries:
        for way in ways():
            with opened(policy, canaries, way) as jail:
                for escape in chosen:
                    seen, changes = run(jail, escape, canaries)
                    yield Trial(escape, way, seen, expected(escape, host()), changes)
