"""What every test may ask of the host.

    JAILPY_MUST_WORK=1      what this host cannot do fails its tests instead of skipping them
    JAILPY_ALLOW_DEGRADED   layers that may be missing all the same (the library's own variable)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NoReturn

import pytest

from jailpy import Policy
from jailpy.kernel import probe
from jailpy.policy import EXTRAS

MUST_WORK = os.environ.get("JAILPY_MUST_WORK") == "1"
#: What a policy of the tests lets go where the host lacks it.
MAY_LACK = frozenset({"cgroup", "memory_cgroup", "pids_cgroup"})


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(layer, ...): skipped, or failed by JAILPY_MUST_WORK=1, where missing")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for layer in marker.args:
            needs(layer)


def needs(layer: str) -> None:
    """The test makes no sense on a host without this layer of isolation."""
    lack = probe.host().missing.get(layer)
    if lack is None:
        return
    # What no policy can demand, an ordinary user or an older kernel may lack without a word from the operator.
    if layer in Policy.from_environment().allow_degraded | EXTRAS:
        pytest.skip(f"{layer} is allowed to be missing: {lack.why}")
    unavailable(f"{layer}: {lack.why}. {lack.fix}")


def unavailable(reason: str) -> NoReturn:
    """Ends the test: something that it needs is not here."""
    if MUST_WORK:
        pytest.fail(f"JAILPY_MUST_WORK: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(name="unavailable", scope="session")
def _unavailable() -> Callable[[str], NoReturn]:
    return unavailable


@pytest.fixture(scope="session")
def policy() -> Policy:
    """Every layer that the host has; of those that it lacks, only cgroups are let go, and only where it lacks them."""
    allowed = MAY_LACK & probe.host().missing.keys()
    if MUST_WORK:
        allowed &= Policy.from_environment().allow_degraded
    return Policy(allow_degraded=allowed)
