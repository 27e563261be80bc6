"""A host that has descriptors for a part of a run only. usage: host_short_of_descriptors.py WAY LAYERS

Prints how a run ended with one more descriptor each time, then how one with enough of them ends, what the process has more
open when its jail is closed than before it was made, and the groups that are left in its home."""

from __future__ import annotations

import json
import logging
import os
import resource
import sys

from jailpy import InfrastructureError, Jail, Limits, Policy
from jailpy.kernel.probe import host

MOST = 40
LIMITS = Limits(cpu_s=100, wall_s=100)


def opened() -> int:
    return len(os.listdir("/proc/self/fd"))


def main() -> None:
    way, layers = sys.argv[1:]
    logging.disable()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    policy = Policy(allow_degraded=layers.split(","))
    with Jail(policy, LIMITS, warm=False) as jail:
        jail.run("")  # what is made once for the whole process is there
    before = opened()
    outcomes = []
    with Jail(policy, LIMITS, workers=1, warm=way == "warm") as jail:
        jail.run("")
        least = opened()
        for more in range(MOST):
            resource.setrlimit(resource.RLIMIT_NOFILE, (least + more, hard))
            try:
                outcomes.append(jail.run("print(1)").stdout.decode())
            except InfrastructureError as error:
                outcomes.append(type(error).__name__)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        last = jail.run("print(2)").stdout.decode()
    home = host().cgroup
    groups = [entry.name for entry in os.scandir(home.path) if entry.is_dir()] if home else []
    print(json.dumps([outcomes, last, opened() - before, groups]))


main()
