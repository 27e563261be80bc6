"""Jails and guests for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jailpy import Jail, Limits, Policy, Result

GUESTS = Path(__file__).parent.parent / "guests"
#: Time on the clock enough for any guest that is not about it, also on an emulated machine.
PATIENCE = 100.0

WORKERS = 2
WAYS = ("cold", "warm")

RunGuest = Callable[..., Result]


def guest(name: str) -> str:
    """The code of a file in tests/guests."""
    return (GUESTS / f"{name}.py").read_text(encoding="utf-8")


def open_jail(way: str, policy: Policy, *, workers: int = WORKERS) -> Jail:
    """A jail whose guests start cold, in jails made while the caller waits, or warm, in jails made ahead."""
    return Jail(policy, workers=workers, warm=way == "warm")


def run_guest_in(jail: Jail) -> RunGuest:
    """`run("spin", stdin=b"", files=None, cpu_s=1, ...)` runs a file of tests/guests under these limits."""

    def run(name: str, stdin: bytes | str = b"", files: dict[str, bytes] | None = None, **limits: float) -> Result:
        amounts = {"cpu_s": PATIENCE, "wall_s": PATIENCE, **limits}
        return jail.run(guest(name), stdin, files=files, limits=Limits(**amounts))  # type: ignore[arg-type]

    return run
