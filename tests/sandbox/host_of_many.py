"""A process that uses jailpy and then dies or works under load; started by test_death.py.

host_of_many.py sleepers WAY COUNT LAYERS      starts COUNT guests that sleep, each from a thread; prints the folder of
                                               their cgroups (or -), then waits
host_of_many.py busy WAY COUNT LAYERS MIB      makes COUNT short runs next to 8 busy threads and MIB of own memory
host_of_many.py first WAY COUNT LAYERS         COUNT threads make their first runs at the same moment; prints what each
                                               of them got, sorted
"""

from __future__ import annotations

import hashlib
import sys
import threading

from jails import guest, open_jail

from jailpy import Limits, Policy
from jailpy.kernel import probe


def sleepers(way: str, count: int, policy: Policy) -> None:
    jail = open_jail(way, policy, workers=count)
    limits = Limits(wall_s=500, memory_mb=32)
    home = probe.host().cgroup
    code = guest("sleep_60").replace("60", "500")
    for _ in range(count):
        threading.Thread(target=jail.run, args=(code,), kwargs={"limits": limits}, daemon=True).start()
    print(home.path if home else "-", flush=True)
    threading.Event().wait()


def first(way: str, count: int, policy: Policy) -> None:
    gate = threading.Barrier(count)
    got: list[str] = []

    def run() -> None:
        gate.wait()
        try:
            got.append(jail.run("print(6 * 7)", limits=Limits(wall_s=100)).stdout.decode().strip())
        except Exception as error:  # noqa: BLE001  # told to the test
            got.append(f"{type(error).__name__}: {error}")

    with open_jail(way, policy, workers=count) as jail:
        threads = [threading.Thread(target=run) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(*sorted(got), sep="\n", flush=True)


def busy(way: str, count: int, policy: Policy, mebibytes: int) -> None:
    ballast = bytearray(b"x") * (mebibytes << 20)
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            hashlib.sha256(bytes(10_000)).digest()
            sum(range(1000))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        with open_jail(way, policy) as jail:
            done = sum(jail.run("print(6 * 7)", limits=Limits(wall_s=100)).stdout == b"42\n" for _ in range(count))
    finally:
        over.set()
    for thread in threads:
        thread.join()
    print(done, len(ballast) >> 20, flush=True)


if __name__ == "__main__":
    kind, way, count, layers, *rest = sys.argv[1:]
    allowed = Policy(allow_degraded=frozenset(layers.split(",")) - {""})
    if kind == "sleepers":
        sleepers(way, int(count), allowed)
    elif kind == "first":
        first(way, int(count), allowed)
    else:
        busy(way, int(count), allowed, int(rest[0]))
