"""The same program is judged in the same way each time, and for the same reason."""

from __future__ import annotations

import pytest
from jails import PATIENCE
from repeated import REPEATED, Repeated

from jailpy import Jail, Limits

TIMES = 4


@pytest.mark.parametrize("way", ["warm"], indirect=True)
@pytest.mark.parametrize("one", REPEATED, ids=lambda one: one.name)
def test_every_run_is_judged_alike(jail: Jail, one: Repeated) -> None:
    limits = Limits(cpu_s=PATIENCE, wall_s=PATIENCE)
    grades = [jail.grade(one.code, [one.test], limits=limits) for _ in range(TIMES)]
    said = {(grade.verdict.value, grade.reward, grade.outcomes[0].reason) for grade in grades}
    assert len(said) == 1, said
    assert grades[0].verdict.value == one.verdict, said
