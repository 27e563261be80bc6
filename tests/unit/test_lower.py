"""Any policy, limits and program that a caller can make: lowered to a spec that native/spec.c takes, or refused as the
caller's mistake, before a process exists."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import pytest
import test_spec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jailpy import Limits, Policy, ReadOnly, UsageError, programs, roots
from jailpy.kernel.namespaces import NEW, choose_ids
from jailpy.kernel.probe import Host, Missing
from jailpy.kernel.spec import encode
from jailpy.limits import MOST
from jailpy.lower import Program, lower
from jailpy.policy import DEGRADABLE, LAYERS
from jailpy.roots import Places

decode = test_spec.decode  # the fixture

TEXT = st.text(max_size=12) | st.text("abAB=/. \n\0\udc80\ud800é", max_size=12) | st.sampled_from(["PATH", "HOME", ""])
PATH = st.one_of(
    st.sampled_from(["/", "/usr", "/etc/passwd", "/nowhere", "/box", "/proc", "/jailpy", "relative", "/a/../b", "//x"]),
    TEXT.map(lambda text: "/" + text),
)
AMOUNT: st.SearchStrategy[Any] = st.one_of(
    st.integers(-2, 4),
    st.integers(0, MOST + 1),
    st.sampled_from([16, 64, 255.0, 16.5, 1e-9, 2.0**30, 2.0**31, float("nan"), float("inf"), True, MOST]),
    st.floats(0, 1e4),
)
FIELDS = [field.name for field in dataclasses.fields(Limits)]


def made(make: Any, *args: Any, **options: Any) -> Any:
    """What a constructor gives, or None where it calls the arguments a mistake."""
    try:
        return make(*args, **options)
    except UsageError:
        return None


MOUNTS = st.lists(st.builds(made, st.just(ReadOnly), PATH, st.one_of(st.just(""), PATH)), max_size=3)
POLICIES = st.builds(
    lambda mounts, layers, environment: made(
        Policy, allow_degraded=layers, mounts=tuple(filter(None, mounts)), environment=environment
    ),
    MOUNTS,
    st.frozensets(st.sampled_from(sorted(DEGRADABLE))),
    st.dictionaries(TEXT, TEXT, max_size=4),
)
LIMITS = st.dictionaries(st.sampled_from(FIELDS), AMOUNT, max_size=4).map(lambda amounts: made(Limits, **amounts))
FILES = st.dictionaries(TEXT, st.binary(max_size=20), max_size=4)
HOSTS = st.builds(
    lambda lacks, abi: Host(
        frozenset(NEW) - lacks, 0 if "landlock" in lacks else abi, None, {lack: Missing("a test", "none") for lack in lacks}
    ),
    st.frozensets(st.sampled_from(LAYERS)),
    st.integers(1, 9),
)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(POLICIES, LIMITS, FILES, HOSTS, st.binary(max_size=20))
def test_any_policy_and_limits(
    decode: test_spec.Decoder,
    policy: Policy | None,
    limits: Limits | None,
    files: dict[str, bytes],
    host: Host,
    code: bytes,
) -> None:
    if policy is None or limits is None:
        return
    taken = made(programs.check_files, files, limits)
    if taken is None:
        return
    script = roots.File(programs.SCRIPT, code)
    program = Program(argv=("/usr/bin/python3", f"{roots.INSIDE.driver}/driver.py"), files=(*taken, script))
    places = roots.INSIDE if "root" not in host.missing else Places("/somewhere", "/driver", ("/somewhere",))
    ids = choose_ids("user_namespace" in host.namespaces)
    spec = made(lower, program, policy, limits, host, ids, places, "")
    if spec is None:
        return
    assert decode(encode(spec)) == 0
    assert all(isinstance(limit.soft, int) for limit in spec.rlimits)
    assert not any("." in option for op in spec.mounts for option in op.text.split(",") if option[:2] in ("si", "nr"))


def test_the_control_spec_is_refused(decode: test_spec.Decoder) -> None:
    """The decoder says no to a spec of which the constructor's checks are left out."""
    spec = lower(Program(argv=("/bin/true",)), Policy(), Limits(), _bare_host(), choose_ids(True), roots.INSIDE, "")
    worse = dataclasses.replace(spec.rlimits[0], soft=2, hard=1)
    assert decode(encode(spec)) == 0
    assert decode(encode(dataclasses.replace(spec, rlimits=(worse,)))) == 10


def _bare_host() -> Host:
    return Host(frozenset(NEW), 3, None, {})


@pytest.mark.parametrize("field", ["memory_mb", "processes", "disk_mb", "open_files"])
def test_a_whole_number_may_come_as_a_float(field: str) -> None:
    """As JSON has it, and some of its writers write 64.0."""
    value = getattr(Limits(**{field: 64.0}), field)  # type: ignore[arg-type]
    assert (value, type(value)) == (64, int)


def test_an_environment_that_no_process_can_have() -> None:
    with pytest.raises(UsageError, match="environment"):
        Policy(environment={"A": "\ud800"})
    assert Policy(environment={"A": os.fsdecode(b"\xff")}).environment == (("A", "\udcff"),)
