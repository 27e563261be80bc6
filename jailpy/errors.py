"""Errors: caller mistakes and our own failures, never what a guest did.

    JailpyError
    ├── UsageError (also ValueError)   a field of the call is wrong; the message names it and the fix
    └── InfrastructureError            the judging failed; there is no reward
        ├── LayerMissing               the policy asks for a layer that this host cannot give
        ├── SetupError                 a step before the guest's first instruction failed
        ├── HelperLost                 jailpy-init ended or broke its protocol
        ├── CheckerError               the caller's checker or interactor failed
        └── Overloaded                 the queue is full; retry later

What a guest does, however bad, is data: see `jailpy.status`. Every error pickles, so it crosses processes.
"""

from __future__ import annotations

from typing import Any


class JailpyError(Exception):
    """Root of everything jailpy raises on purpose."""


class UsageError(JailpyError, ValueError):
    """A wrong argument: `field` names it, `problem` says what is wrong and what would be right."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.field, self.problem)


class InfrastructureError(JailpyError):
    """The guest was not judged. Never a reward."""


class LayerMissing(InfrastructureError):
    """A layer that the policy asks for is not available: `layer` names it, `fix` is the exact change that gives it."""

    def __init__(self, layer: str, why: str, fix: str) -> None:
        super().__init__(
            f"{layer}: {why}. To have it: {fix} To run without it: Policy(allow_degraded={{{layer!r}}})"
        )
        self.layer = layer
        self.why = why
        self.fix = fix

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.layer, self.why, self.fix)


class SetupError(InfrastructureError):
    """Set-up stopped at (stage, index, errno); the guest never ran."""

    def __init__(self, stage: str, index: int, errno: int, hint: str) -> None:
        super().__init__(hint)
        self.stage = stage
        self.index = index
        self.errno = errno
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.stage, self.index, self.errno, self.hint)


class HelperLost(InfrastructureError):
    """The native helper ended, or said something that its protocol does not know."""


class CheckerError(InfrastructureError):
    """A checker or an interactor gave no verdict: it raised, took too long, crashed, or said something else."""


class Overloaded(InfrastructureError):
    """The queue holds as many runs as it may; nothing was started."""
