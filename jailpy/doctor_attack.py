"""`jailpy doctor --attack`: the pack of escapes on this host, as a table and an exit status."""

from __future__ import annotations

import json
from collections.abc import Sequence

from jailpy import escapes
from jailpy.escapes import Escape, attack
from jailpy.escapes.attack import Trial
from jailpy.policy import Policy
from jailpy.progress import Progress
from jailpy.table import print_table

_HEADER = ("technique", "stopped by", "how", "then by", "contained")


def run(policy: Policy, as_json: bool) -> int:
    """Tries every technique in every kind of jail that this host gives. 0 when all are contained, else 2."""
    pack = escapes.for_this_machine(escapes.load())
    progress = Progress(len(pack) * len(attack.ways()))
    trials: dict[str, list[Trial]] = {}
    for trial in attack.all_of(pack, policy):
        progress.step()
        trials.setdefault(trial.escape.name, []).append(trial)
    progress.finish()
    held = [escape.name for escape in pack if all(trial.contained for trial in trials[escape.name])]
    if as_json:
        for escape in pack:
            print(_as_json(escape, trials[escape.name]))
    else:
        print_table([_HEADER, *(_row(escape, trials[escape.name]) for escape in pack)])
        print()
        print(f"contained {len(held)} of {len(pack)}, {' and '.join(attack.ways())}")
    return 0 if len(held) == len(pack) else 2


def _row(escape: Escape, trials: Sequence[Trial]) -> tuple[str, ...]:
    guard = trials[0].guard
    later = escape.guards[escape.guards.index(guard) + 1 :]
    seen = ", ".join(dict.fromkeys(trial.seen for trial in trials))
    return escape.name, guard.name, seen, ", ".join(each.name for each in later), _verdict(trials)


def _verdict(trials: Sequence[Trial]) -> str:
    said = []
    for trial in trials:
        if not trial.contained:
            what = "; ".join(trial.changes) or f"{trial.seen} where {' or '.join(trial.guard.words)} was due"
            said.append(f"NO, {trial.way}: {what}")
    return ". ".join(said) or "yes"


def _as_json(escape: Escape, trials: Sequence[Trial]) -> str:
    return json.dumps(
        {
            "name": escape.name,
            "what": escape.what,
            "rows": escape.rows,
            "layers": [guard.name for guard in escape.guards],
            "stopped_by": trials[0].guard.name,
            "seen": {trial.way: trial.seen for trial in trials},
            "changes": {trial.way: trial.changes for trial in trials},
            "contained": all(trial.contained for trial in trials),
        }
    )
