"""What a guest sees and may touch. Where it is safe, the same guest runs as a plain process of the host: what the test
looks for is visible there, so it is the jail that hides it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from jails import GUESTS, PATIENCE, RunGuest, guest, open_jail, run_guest_in

from jailpy import Jail, Limits, Policy, ReadOnly, Status, languages

NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def describe(run_guest: RunGuest, **limits: float) -> dict[str, Any]:
    """What `describe_self` prints in a jail."""
    result = run_guest("describe_self", **limits)
    assert result.ok, result
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def on_the_host(name: str, stdin: str = "") -> str:
    """What a guest prints as a plain process: the control."""
    command = [sys.executable, str(GUESTS / f"{name}.py")]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=True, timeout=100).stdout


@pytest.fixture
def inside(run_guest: RunGuest) -> dict[str, Any]:
    return describe(run_guest)


@pytest.fixture(scope="module")
def outside() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(on_the_host("describe_self"))
    return found


class TestNamespaces:
    @pytest.mark.parametrize("name", NAMESPACES)
    def test_is_its_own(self, inside: dict[str, Any], outside: dict[str, Any], name: str) -> None:
        host = os.readlink(f"/proc/self/ns/{name}")
        assert outside["namespaces"][name] == host
        assert inside["namespaces"][name].startswith(f"{name}:[")
        assert inside["namespaces"][name] != host

    def test_two_jails_at_once_share_none(self, way: str, policy: Policy) -> None:
        code = "import os, sys, time\nprint(*(os.readlink(f'/proc/self/ns/{n}') for n in sys.stdin.read().split()))\n"
        code += "sys.stdout.flush()\ntime.sleep(1.5)\n"
        with open_jail(way, policy) as jail:
            with ThreadPoolExecutor(2) as threads:
                runs = [threads.submit(jail.run, code, " ".join(NAMESPACES)) for _ in range(2)]
            first, second = (run.result().stdout.split() for run in runs)
        assert len(first) == len(NAMESPACES)
        assert not set(first) & set(second)

    def test_nested_user_namespaces_are_refused(self, run_guest: RunGuest) -> None:
        assert run_guest("make_user_namespace").stdout == b"%d\n" % errno.EPERM
        if int(on_the_host("make_user_namespace")) != 0:
            pytest.skip("the control: the host refuses them to this user too")

    def test_only_the_jails_processes_exist(self, inside: dict[str, Any], outside: dict[str, Any]) -> None:
        assert inside["pid"] == 2
        assert inside["parent"] in (0, 1)  # 0: its parent, a zygote, has no number in here
        assert {name for name in inside["proc"] if name.isdigit()} <= {"1", "2", "3"}
        assert str(os.getpid()) in outside["proc"]

    def test_nobody_outside_takes_a_signal(self, run_guest: RunGuest) -> None:
        result = run_guest("signal_everybody")
        assert result.status is Status.EXITED
        # 0 is its own group, 1 ignores what a guest sends, 3 holds the memory of a guest that was forked by a zygote.
        assert set(json.loads(result.stdout)) <= {0, 1, 3}

    def test_a_guest_that_kills_all_it_can_gains_nothing(self, run_guest: RunGuest) -> None:
        result = run_guest("kill_everybody")
        assert (result.status, result.exit_code, result.stdout) == (Status.EXITED, 0, b"alone\n")

    def test_no_child_that_it_did_not_make(self, run_guest: RunGuest) -> None:
        assert run_guest("wait_for_any").stdout == b"no children\n"

    def test_hostname_and_cgroup_tell_nothing(self, inside: dict[str, Any], outside: dict[str, Any]) -> None:
        assert inside["hostname"] == "jail"
        assert outside["hostname"] != "jail"
        assert "0::/\n" in inside["cgroup"]
        assert "jailpy" not in inside["cgroup"]


class TestFileSystem:
    def test_top_level(self, inside: dict[str, Any], policy: Policy) -> None:
        system = {name for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32") if os.path.lexists(f"/{name}")}
        expected = {"dev", "etc", "jailpy", "proc", "tmp", "usr", "box", ".private"} | system
        # An interpreter outside of /usr shows the folders on its way, and nothing else in them.
        expected |= {Path(path).parts[1] for path in _interpreter_folders(policy)}
        assert set(inside["top"]) == expected

    def test_an_interpreters_way_shows_only_itself(self, jail: Jail, policy: Policy) -> None:
        for folder in _interpreter_folders(policy):
            path = Path(folder)
            if path.parts[1] == "usr":
                continue
            for parent in list(path.parents)[:-1]:
                listed = jail.run(f"import os; print(os.listdir({str(parent)!r}))").stdout.decode()
                assert listed == f"{[path.relative_to(parent).parts[0]]}\n"

    def test_dev(self, inside: dict[str, Any], outside: dict[str, Any]) -> None:
        names = ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
        assert inside["dev"] == names
        assert set(outside["dev"]) > set(names) - {"fd", "stdin", "stdout", "stderr"}

    @pytest.mark.parametrize("name", ["null", "zero", "full", "random", "urandom"])
    def test_devices_are_the_real_ones(self, jail: Jail, name: str) -> None:
        printed = jail.run(f"import os; s = os.stat('/dev/{name}'); print(s.st_mode, s.st_rdev)").stdout.split()
        assert stat.S_ISCHR(int(printed[0]))
        assert int(printed[1]) == os.stat(f"/dev/{name}").st_rdev

    def test_devices_work(self, jail: Jail) -> None:
        code = """
import os
print(len(open('/dev/urandom', 'rb').read(8)), open('/dev/zero', 'rb').read(2), open('/dev/null').read() == '')
print(os.write(os.open('/dev/null', os.O_WRONLY), b'abc'))
try:
    os.write(os.open('/dev/full', os.O_WRONLY), b'abc')
except OSError as error:
    print(error.errno)
"""
        assert jail.run(code).stdout.decode() == f"8 {bytes(2)} True\n3\n{errno.ENOSPC}\n"

    def test_proc_holds_processes_only(self, inside: dict[str, Any], outside: dict[str, Any]) -> None:
        assert {name for name in inside["proc"] if not name.isdigit()} == {"self", "thread-self"}
        assert {"sys", "meminfo", "cmdline"} <= set(outside["proc"])

    def test_no_sys(self, inside: dict[str, Any], outside: dict[str, Any]) -> None:
        assert inside["sys"] == errno.ENOENT
        assert "kernel" in outside["sys"]

    def test_no_host_file(self, run_guest: RunGuest, tmp_path: Path) -> None:
        sentinel = tmp_path / "sentinel"
        sentinel.write_text("secret")
        files = [
            *(str(sentinel), f"/..{sentinel}", f"/proc/1/root{sentinel}", f"/proc/self/root{sentinel}"),
            *(f"/proc/self/cwd/..{sentinel}", __file__, "/etc/shadow", "/etc/fstab", "/var", "/run", "/home", "/boot"),
            *("/mnt", "/sys/fs/cgroup", "/dev/mem", "/dev/kmsg", "/dev/ptmx", "/dev/tty"),
        ]
        assert run_guest("look_for", stdin="\n".join(files)).stdout == b""
        seen = on_the_host("look_for", "\n".join(files)).splitlines()
        assert {str(sentinel), __file__, f"/proc/self/root{sentinel}", "/etc/shadow", "/var"} <= set(seen)

    def test_pid_1_shows_nothing(self, inside: dict[str, Any]) -> None:
        assert inside["init_environment"] in (errno.EACCES, errno.EPERM, errno.ENOENT)

    def test_read_only_but_for_three_places(self, run_guest: RunGuest, policy: Policy, tmp_path: Path) -> None:
        closed = ["/", "/usr", "/usr/lib", "/etc", "/dev", "/jailpy", "/bin", *_interpreter_folders(policy)]
        opened = ["/box", "/tmp", "/dev/shm"]
        found = json.loads(run_guest("try_to_write", stdin="\n".join([*closed, "/proc", *opened])).stdout)
        assert {path: found[path] for path in opened} == dict.fromkeys(opened, 0)
        assert {path: found[path] for path in closed} == dict.fromkeys(closed, errno.EROFS)
        assert found["/proc"] != 0
        # The control: the same guest, on a folder of the host that its user may write to.
        assert json.loads(on_the_host("try_to_write", str(tmp_path))) == {str(tmp_path): 0}

    def test_read_only_mounts_of_the_policy(self, way: str, policy: Policy, tmp_path: Path) -> None:
        (tmp_path / "data").write_text("shared")
        _open_to_others(tmp_path)
        shown = Policy(allow_degraded=policy.allow_degraded, mounts=(ReadOnly(str(tmp_path), "/data"),))
        with open_jail(way, shown) as jail:
            run = run_guest_in(jail)
            assert run("look_for", stdin="/data/data").stdout == b"/data/data\n"
            assert json.loads(run("try_to_write", stdin="/data").stdout) == {"/data": errno.EROFS}
        assert os.listdir(tmp_path) == ["data"]

    def test_one_size_limit_for_all_writable_places(self, run_guest: RunGuest) -> None:
        report = json.loads(run_guest("one_disk", disk_mb=8).stdout)
        assert {folder: error for folder, (_, error) in report.items()} == dict.fromkeys(report, errno.ENOSPC)
        assert 7 << 20 < report["/tmp"][0] <= 8 << 20
        assert sum(taken for taken, _ in report.values()) <= 8 << 20

    def test_one_inode_limit_for_all_writable_places(self, run_guest: RunGuest) -> None:
        report = json.loads(run_guest("one_inode_table", disk_mb=8).stdout)
        assert {folder: error for folder, (_, error) in report.items()} == dict.fromkeys(report, errno.ENOSPC)
        assert 1000 < sum(made for made, _ in report.values()) <= 8 * 256

    def test_a_larger_disk_limit_is_larger(self, run_guest: RunGuest) -> None:
        report = json.loads(run_guest("one_disk", disk_mb=24).stdout)
        assert 23 << 20 < report["/tmp"][0] <= 24 << 20

    def test_each_run_starts_clean(self, jail: Jail) -> None:
        leave = "import os\nfor f in ('/box', '/tmp', '/dev/shm'):\n    open(f + '/left', 'w').close()\n"
        show = "import os\nprint([os.listdir(f) for f in ('/box', '/tmp', '/dev/shm')])"
        assert jail.run(leave).ok
        assert jail.run(show).stdout == b"[['main.py'], [], []]\n"


def _interpreter_folders(policy: Policy) -> tuple[str, ...]:
    return languages.interpreter(policy).folders


class TestPrivileges:
    def test_no_capability_in_any_set(self, inside: dict[str, Any]) -> None:
        assert {name: int(inside["status"][name], 16) for name in CAPABILITY_SETS} == dict.fromkeys(CAPABILITY_SETS, 0)

    def test_the_host_has_a_bounding_set(self, outside: dict[str, Any]) -> None:
        assert int(outside["status"]["CapBnd"], 16) != 0

    def test_no_new_privs_and_seccomp(self, inside: dict[str, Any], outside: dict[str, Any]) -> None:
        assert inside["status"]["NoNewPrivs"] == "1"
        assert inside["status"]["Seccomp"] == "2"
        if outside["status"]["Seccomp"] == "0":
            assert inside["status"]["Seccomp_filters"] == "1"

    def test_ids_inside(self, inside: dict[str, Any]) -> None:
        assert (inside["uid"], inside["gid"]) == (1000, 1000)
        assert inside["status"]["Uid"].split() == ["1000"] * 4
        assert inside["status"]["Gid"].split() == ["1000"] * 4

    @pytest.mark.needs("separate_uid")
    def test_no_groups(self, inside: dict[str, Any]) -> None:
        assert inside["groups"] == []

    @pytest.mark.needs("separate_uid")
    def test_ids_outside_are_nobody_elses(self, way: str, policy: Policy) -> None:
        names = ["first-guest", "second-guest"]
        with open_jail(way, policy) as jail, ThreadPoolExecutor(2) as threads:
            limits = Limits(wall_s=5)
            runs = [threads.submit(jail.run, guest("name_self"), name, limits=limits) for name in names]
            uids = _uids_of(names)
            assert [run.result().status for run in runs] == [Status.WALL_TIME] * 2
        assert len(set(uids)) == 2
        assert not {0, 1000, os.getuid()} & set(uids)

    def test_cores_are_never_dumped(self, inside: dict[str, Any]) -> None:
        assert inside["rlimits"]["RLIMIT_CORE"] == [1, 1]

    def test_rlimits_cannot_be_raised(self, run_guest: RunGuest, jail: Jail) -> None:
        rlimits = describe(run_guest, open_files=64, cpu_s=7, disk_mb=5)["rlimits"]
        assert rlimits["RLIMIT_NOFILE"] == [64, 64]
        assert rlimits["RLIMIT_FSIZE"] == [5 << 20, 5 << 20]
        assert rlimits["RLIMIT_CPU"][0] == rlimits["RLIMIT_CPU"][1] >= 7
        for name in ("RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_RTPRIO", "RLIMIT_NICE"):
            assert rlimits[name] == [0, 0]
        code = """
import resource
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))
except (ValueError, OSError) as error:
    print(type(error).__name__)
"""
        assert jail.run(code).stdout == b"ValueError\n"

    def test_address_space_is_no_limit(self, inside: dict[str, Any]) -> None:
        assert inside["rlimits"]["RLIMIT_AS"] == [-1, -1]

    @pytest.mark.needs("landlock")
    def test_landlock_holds_where_a_read_only_mount_does_not(self, way: str, policy: Policy, tmp_path: Path) -> None:
        # A named pipe may be written to through a read-only mount, and this one's mode allows it to everybody.
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        pipe.chmod(0o666)
        _open_to_others(tmp_path)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        write = "import os\ntry:\n    print(os.write(os.open({!r}, os.O_WRONLY | os.O_NONBLOCK), b'x'))\n"
        write += "except OSError as error:\n    print(-error.errno)\n"
        shown = Policy(allow_degraded=policy.allow_degraded, mounts=(ReadOnly(str(tmp_path), "/data"),))
        try:
            with open_jail(way, shown) as jail:
                assert jail.run(write.format("/data/pipe")).stdout == b"%d\n" % -errno.EACCES
            command = [sys.executable, "-c", write.format(str(pipe))]
            assert subprocess.run(command, capture_output=True, check=True).stdout == b"1\n"
        finally:
            os.close(reader)


class TestProcess:
    def test_only_its_four_descriptors(self, run_guest: RunGuest) -> None:
        with _leaky_host() as fds:
            inside = describe(run_guest)
            assert set(inside["descriptors"]) == {"0", "1", "2", "3"}
            kinds = {number: target.split(":")[0] for number, target in inside["descriptors"].items()}
            assert kinds == {"0": "pipe", "1": "pipe", "2": "pipe", "3": "socket"}
            found = subprocess.run(
                [sys.executable, str(GUESTS / "describe_self.py")], capture_output=True, close_fds=False, check=True
            )
            assert set(map(str, fds)) <= json.loads(found.stdout)["descriptors"].keys()

    def test_the_whole_environment(self, way: str, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SECRET_TOKEN", "of the host")
        own = Policy(allow_degraded=policy.allow_degraded, environment={"MODE": "test", "LANG": "C"})
        with open_jail(way, own) as jail:
            environment = describe(run_guest_in(jail), processes=16)["environment"]
        threads = str(min(os.cpu_count() or 1, 2))
        environment.pop("LC_CTYPE", None)  # set by CPython itself where the C locale is asked for
        assert environment == {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": "/box",
            "TMPDIR": "/tmp",
            "LANG": "C",
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            "MODE": "test",
        }
        assert "SECRET_TOKEN" in json.loads(on_the_host("describe_self"))["environment"]

    def test_a_session_of_its_own(self, inside: dict[str, Any], outside: dict[str, Any]) -> None:
        assert inside["session"] == inside["group"] == inside["pid"]
        assert outside["session"] == os.getsid(0) != outside["pid"]

    def test_starts_in_its_working_folder(self, inside: dict[str, Any]) -> None:
        assert inside["folder"] == "/box"

    def test_signals_are_as_a_fresh_program_finds_them(self, run_guest: RunGuest) -> None:
        before = signal.getsignal(signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
        try:
            status = describe(run_guest)["status"]
        finally:
            signal.signal(signal.SIGUSR1, before)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR2})
        assert int(status["SigBlk"], 16) == 0
        # CPython itself ignores SIGPIPE and SIGXFSZ.
        assert int(status["SigIgn"], 16) & ~(1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1) == 0


@contextlib.contextmanager
def _leaky_host() -> Iterator[list[int]]:
    """This process with descriptors that its children would inherit: a pipe, and the host's root at a high number."""
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    fds = [root, *os.pipe(), fcntl.fcntl(root, fcntl.F_DUPFD, 700)]
    for fd in fds:
        os.set_inheritable(fd, True)
    try:
        yield fds
    finally:
        for fd in fds:
            os.close(fd)


def _open_to_others(folder: Path) -> None:
    """A guest of another user may look into this folder, and write to it for all that modes say. What leads there is
    reached by the mount, not by its path."""
    folder.chmod(0o777)


def _uids_of(names: list[str]) -> list[int]:
    """The users that running guests with these names have for the host."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = {}
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                found[child.name()] = child.uids().real
        if set(names) <= found.keys():
            return [found[name] for name in names]
        time.sleep(0.02)
    raise AssertionError(f"{names} never ran at once")
