"""Many runs through one Jail, and what is left behind after each batch. Exits with 1 when something grew.

The programs are a mixture: quick ones, exceptions, exits by signal, time limits, floods of output, daemons that fork
away, files in /tmp, threads, sockets, a fork bomb. Each has a status that it must end with.

After every batch, with all jails parked again, it counts: processes in our cgroups and below us; descriptors of this
process; mounts and network interfaces of this process's namespaces; cgroups in our folder, living and dying (those that
the kernel has yet to free); resident memory of this process, and of the zygotes with their makers of jails.
"""

from __future__ import annotations

import concurrent.futures
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.memory import address_spaces, smaps
from jailpy import InfrastructureError, Jail, Limits, Status

_TINY = Limits(cpu_s=0.05, wall_s=2.0)
_SHORT = Limits(cpu_s=1.0, wall_s=0.05)
_FLOOD = Limits(output_mb=0.25)
_FEW = Limits(processes=16, wall_s=0.2, cpu_s=1.0)
_DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
print("left", flush=True)
"""
_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
_FILES = "import os\nfor n in range(20):\n    open(f'/tmp/{n}', 'wb').write(b'x' * 65536)\n"
_THREADS = "import threading\nfor _ in range(4):\n    threading.Thread(target=sum, args=([1, 2],)).start()\n"
_SOCKETS = "import socket\nkept = [socket.socketpair() for _ in range(20)]\n"

#: (share of 100, name, program, limits, the statuses that are right)
MIXTURE = (
    (40, "print", "print(1)", Limits(), {Status.EXITED}),
    (15, "exception", "raise ValueError('no')", Limits(), {Status.EXITED}),
    (
        8,
        "signal",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        Limits(),
        {Status.SIGNALLED, Status.EXITED},
    ),
    (8, "files", _FILES, Limits(), {Status.EXITED}),
    (8, "threads", _THREADS, Limits(), {Status.EXITED}),
    (6, "sockets", _SOCKETS, Limits(), {Status.EXITED}),
    (5, "cpu limit", "while True: pass", _TINY, {Status.CPU_TIME}),
    (4, "wall limit", "import time\ntime.sleep(60)", _SHORT, {Status.WALL_TIME}),
    (3, "flood", "while True: print('x' * 5000)", _FLOOD, {Status.OUTPUT}),
    (2, "daemon", _DAEMON, Limits(), {Status.EXITED}),
    (1, "bomb", _BOMB, _FEW, {Status.PROCESSES, Status.CPU_TIME, Status.WALL_TIME}),
)
_SLACK = {"processes": 0, "fds": 2, "mounts": 0, "interfaces": 0, "cgroups": 2, "dying": 20}
_MEMORY_SHARE = 0.05


def below() -> int:
    """Processes whose parent is this one: keepers of zygotes, and whatever was left over."""
    count = 0
    for task in Path("/proc/self/task").iterdir():
        count += len((task / "children").read_text(encoding="ascii").split())
    return count


def look() -> dict[str, int]:
    """What there is at this moment."""
    place = common.home()
    if place is None:
        raise SystemExit("needs cgroup v2: that is where leftovers are looked up")
    inside = [group for group in place.rglob("*") if group.is_dir()]
    zygotes = [pid for group in common.groups("self") for pid in address_spaces(common.pids(group))]
    return {
        "processes": sum(len(common.pids(group)) for group in inside) + below(),
        "fds": len(os.listdir("/proc/self/fd")),
        "mounts": len(Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()),
        "interfaces": len(os.listdir("/sys/class/net")),
        "cgroups": len(inside),
        "dying": common.stat(place, "cgroup.stat", "nr_dying_descendants"),
        "rss_kib": smaps(os.getpid(), "Rss"),
        "zygotes_kib": sum(smaps(pid, "Rss") for pid in zygotes),
    }


def programs(count: int, first: int) -> list[tuple[Any, ...]]:
    """The mixture, spread evenly over any hundred runs."""
    wheel = [entry for entry in MIXTURE for _ in range(entry[0])]
    return [wheel[(number * 37) % len(wheel)] for number in range(first, first + count)]


def batch(jail: Jail, count: int, first: int, wrong: Counter[str]) -> float:
    """So many runs on as many threads as the jail has workers; gives runs a second."""

    def once(entry: tuple[Any, ...]) -> None:
        _, name, code, limits, right = entry
        try:
            result = jail.run(code, limits=limits)
        except InfrastructureError as error:
            wrong[f"{name}: {type(error).__name__}: {error}"] += 1
            return
        if result.status not in right:
            wrong[f"{name}: {result.describe()}"] += 1

    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jail.workers) as threads:
        list(threads.map(once, programs(count, first)))
    return count / (time.monotonic() - begun)


def settle(jail: Jail) -> None:
    """Until as many jails are parked as at rest, and the used ones are taken down."""
    common.settle(jail, 30.0)
    last = look()["processes"]
    for _ in range(50):
        time.sleep(0.1)
        now = look()["processes"]
        if now == last:
            return
        last = now


def grew(history: list[dict[str, int]]) -> list[str]:
    """What is more in every batch of the second half than in any of the first: what leaks never comes back down, while
    jails in flight, with their leaves and descriptors, do."""
    half = (len(history) + 1) // 2
    before, after = history[:half], history[half:]

    def rose(name: str, share: float, slack: int) -> bool:
        return min(batch[name] for batch in after) > max(batch[name] for batch in before) * (1 + share) + slack

    found = [name for name, slack in _SLACK.items() if rose(name, 0, slack)]
    return found + [name for name in ("rss_kib", "zygotes_kib") if rose(name, _MEMORY_SHARE, 0)]


def main() -> int:
    """One line a batch; 1 when something grew or ended otherwise than it must."""
    parser = common.parser(__doc__)
    parser.add_argument("--runs", type=int, default=0, help="instead of 100,000, or 2,000 with --quick")
    arguments = parser.parse_args()
    common.print_machine()
    runs = arguments.runs or (2000 if arguments.quick else 100_000)
    size = max(100, runs // 10)
    wrong: Counter[str] = Counter()
    history: list[dict[str, Any]] = []
    before = look()
    with Jail() as jail:
        for number in range(0, runs, size):
            rate = batch(jail, min(size, runs - number), number, wrong)
            settle(jail)
            history.append({"runs": number + size, "runs_per_s": round(rate), **look()})
            if len(history) == 1:
                print("  ".join(name.rjust(10) for name in history[0]))
            print("  ".join(str(value).rjust(10) for value in history[-1].values()), flush=True)
    after = look()
    left = [name for name in ("processes", "mounts", "interfaces") if after[name] > before[name]]
    more = grew(history)
    for text, count in wrong.most_common(10):
        print(f"ended otherwise than it must, {count} times: {text}")
    print(f"\ngrew: {', '.join(more) or 'nothing'}; left after close: {', '.join(left) or 'nothing'}")
    common.write_json(arguments.json, {"soak": history, "wrong": dict(wrong), "grew": more, "left": left})
    return 1 if more or left or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
