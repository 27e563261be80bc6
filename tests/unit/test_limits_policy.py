"""Limits and policies: what they take, what they refuse and in which words, and what they become."""

from __future__ import annotations

import dataclasses
import math
import resource
from typing import Any

import pytest

from jailpy import LAYERS, LayerMissing, Limits, Policy, ReadOnly, UsageError
from jailpy.kernel import rlimits
from jailpy.kernel.probe import Host, Missing
from jailpy.lower import enforced
from jailpy.policy import DEGRADABLE, EXTRAS

NAMES = [field.name for field in dataclasses.fields(Limits)]
WHOLE = ["memory_mb", "processes", "disk_mb", "open_files"]


class TestLimits:
    def test_defaults(self) -> None:
        limits = Limits()
        assert (limits.cpu_s, limits.wall_s, limits.memory_mb, limits.processes) == (5, 15, 1024, 64)
        assert (limits.output_mb, limits.disk_mb, limits.open_files) == (16, 64, 256)

    def test_bytes(self) -> None:
        limits = Limits(memory_mb=3, output_mb=0.5, disk_mb=2)
        assert (limits.memory_bytes, limits.output_bytes, limits.disk_bytes) == (3 << 20, 1 << 19, 2 << 20)

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, -math.inf, True, None, "5", 1j, [1]], ids=repr)
    def test_what_is_no_amount(self, name: str, value: Any) -> None:
        with pytest.raises(UsageError) as caught:
            Limits(**{name: value})
        assert caught.value.field == f"limits.{name}"

    @pytest.mark.parametrize("name", WHOLE)
    def test_whole_numbers(self, name: str) -> None:
        with pytest.raises(UsageError, match=f"limits.{name}: 100.5 must be a whole number"):
            Limits(**{name: 100.5})
        assert getattr(Limits(**{name: 100.0}), name) == 100

    def test_too_few_files(self) -> None:
        with pytest.raises(UsageError, match=r"limits\.open_files: 15 is too few"):
            Limits(open_files=15)

    def test_frozen_and_comparable(self) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            Limits().cpu_s = 1  # type: ignore[misc]
        assert Limits(cpu_s=1) == Limits(cpu_s=1)
        assert hash(Limits(cpu_s=1)) == hash(Limits(cpu_s=1))


class TestRlimits:
    @staticmethod
    def lowered(limits: Limits) -> dict[int, tuple[int, int]]:
        return {each.resource: (each.soft, each.hard) for each in rlimits.lower(limits, count_processes=False)}

    def test_soft_and_hard_are_one(self) -> None:
        assert all(soft == hard for soft, hard in self.lowered(Limits()).values())

    def test_cores_are_given_up_by_the_kernel(self) -> None:
        assert self.lowered(Limits())[resource.RLIMIT_CORE] == (1, 1)

    def test_the_cpu_limit_is_a_second_line(self) -> None:
        assert self.lowered(Limits(cpu_s=1.5))[resource.RLIMIT_CPU][0] > 1.5

    def test_nothing_limits_the_address_space(self) -> None:
        assert not {resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_RSS} & self.lowered(Limits()).keys()

    def test_processes_are_counted_only_where_nothing_else_does(self) -> None:
        assert resource.RLIMIT_NPROC not in self.lowered(Limits())
        counted = {each.resource for each in rlimits.lower(Limits(), count_processes=True)}
        assert resource.RLIMIT_NPROC in counted

    def test_no_more_than_the_host_itself_may(self) -> None:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        assert self.lowered(Limits(open_files=1 << 30))[resource.RLIMIT_NOFILE][1] <= max(hard, 1 << 30)
        if hard != resource.RLIM_INFINITY:
            assert self.lowered(Limits(open_files=hard + 1))[resource.RLIMIT_NOFILE] == (hard, hard)


class TestPolicy:
    def test_default(self) -> None:
        policy = Policy()
        assert (policy.allow_degraded, policy.mounts, policy.environment, policy.python) == (frozenset(), (), (), None)

    def test_equal_policies_are_one_key(self) -> None:
        first = Policy(allow_degraded={"cgroup"}, environment={"B": "2", "A": "1"}, mounts=[ReadOnly("/opt")])  # type: ignore[arg-type]
        second = Policy(
            allow_degraded=frozenset(["cgroup"]), environment=(("A", "1"), ("B", "2")), mounts=(ReadOnly("/opt", "/opt"),)
        )
        assert hash(first) == hash(dataclasses.replace(first))
        assert first.environment == second.environment

    def test_one_layer_as_a_text(self) -> None:
        assert Policy(allow_degraded="cgroup").allow_degraded == {"cgroup"}  # type: ignore[arg-type]

    def test_unknown_layer(self) -> None:
        with pytest.raises(UsageError, match=r"policy\.allow_degraded: 'memory' is no layer; choose from user_namespace"):
            Policy(allow_degraded=frozenset(["memory"]))

    @pytest.mark.parametrize("layer", sorted(set(LAYERS) - DEGRADABLE))
    def test_layers_that_are_never_given_up(self, layer: str) -> None:
        with pytest.raises(UsageError, match="never given up"):
            Policy(allow_degraded=frozenset([layer]))

    @pytest.mark.parametrize(
        "environment", [{"": "x"}, {"A=B": "x"}, {"A\0": "x"}, {"A": "x\0"}], ids=["empty", "equals", "nul", "nul value"]
    )
    def test_environment_names(self, environment: dict[str, str]) -> None:
        with pytest.raises(UsageError, match=r"policy\.environment"):
            Policy(environment=environment)

    @pytest.mark.parametrize("path", ["", "relative", "/a/../b", "/a//b", "/a/", "/a\0b", "/.", "//a"])
    def test_paths_of_mounts(self, path: str) -> None:
        with pytest.raises(UsageError, match=r"ReadOnly\.source"):
            ReadOnly(path)
        if path:
            with pytest.raises(UsageError, match=r"ReadOnly\.target"):
                ReadOnly("/opt", path)

    def test_an_interpreter_that_is_none(self) -> None:
        with pytest.raises(UsageError, match=r"policy\.python"):
            Policy(python="/no/such/python")

    def test_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("JAILPY_ALLOW_DEGRADED", "memory_cgroup, pids_cgroup")
        assert Policy.from_environment() == Policy(allow_degraded=frozenset(["memory_cgroup", "pids_cgroup"]))
        monkeypatch.delenv("JAILPY_ALLOW_DEGRADED")
        assert Policy.from_environment() == Policy()
        monkeypatch.setenv("JAILPY_ALLOW_DEGRADED", "memory")
        with pytest.raises(UsageError):
            Policy.from_environment()


def lacking(*layers: str) -> Host:
    return Host(frozenset(), 0, None, {layer: Missing(f"no {layer}", f"get {layer}.") for layer in layers})


class TestEnforced:
    def test_nothing_missing(self) -> None:
        assert enforced(Policy(), lacking()) == dict.fromkeys(LAYERS, "on")

    @pytest.mark.parametrize("layer", [layer for layer in LAYERS if layer not in EXTRAS])
    def test_a_missing_layer_stops_the_run(self, layer: str) -> None:
        with pytest.raises(LayerMissing) as caught:
            enforced(Policy(), lacking(layer))
        assert (caught.value.layer, caught.value.why, caught.value.fix) == (layer, f"no {layer}", f"get {layer}.")
        assert f"allow_degraded={{{layer!r}}}" in str(caught.value)

    @pytest.mark.parametrize("layer", sorted(DEGRADABLE))
    def test_a_missing_layer_that_is_let_go_is_told(self, layer: str) -> None:
        how = enforced(Policy(allow_degraded=frozenset([layer])), lacking(layer))
        assert how[layer] != "on"
        assert {name for name, state in how.items() if state != "on"} == {layer}

    def test_letting_go_of_one_says_nothing_of_another(self) -> None:
        with pytest.raises(LayerMissing):
            enforced(Policy(allow_degraded=frozenset(["cgroup"])), lacking("cgroup", "memory_cgroup"))

    @pytest.mark.parametrize("layer", sorted(EXTRAS))
    def test_extras_are_told_and_never_demanded(self, layer: str) -> None:
        assert enforced(Policy(), lacking(layer))[layer] == "missing"
