"""The grammar of hostile guests: lines of Python that fork, kill, flood, hide, lie and hang, in any order and depth."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from hypothesis import strategies as st

PRELUDE = """\
import ctypes, mmap, os, resource, shutil, signal, socket, stat, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def f(*args):
    return args
def attempt(action):
    try:
        action()
    except SystemExit:
        raise
    except BaseException:
        pass
"""

_Lines = st.SearchStrategy[str]

_counts = st.sampled_from([1, 2, 5, 20, 200])
_seconds = st.sampled_from([0.0, 0.001, 0.02, 0.1, 0.4, 60])
_descriptors = st.one_of(st.integers(-1, 12), st.sampled_from([255, 1023]))
_signals = st.one_of(st.integers(0, 65), st.sampled_from([9, 15, 17, 19, 18, 11, 24, 31]))
_pids = st.one_of(st.integers(-3, 8), st.sampled_from(["os.getpid()", "os.getppid()", "-os.getpgrp()"]))
_bytes = st.one_of(st.binary(max_size=24), st.sampled_from([b"\0" * 8, b"\xff" * 8, b"\0" * 7 + b"\5N"]))
_amounts = st.sampled_from([0, 1, 4096, 1 << 16, 1 << 20, 6 << 20, 1 << 31, 1 << 40, (1 << 63) - 1, -1])
_paths = st.sampled_from(
    [
        ".",
        "..",
        "/",
        "/box",
        "/box/main.py",
        "/tmp",
        "/dev/shm",
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/stdin",
        "/dev/stdout",
        "/dev/fd/3",
        "/jailpy",
        "/jailpy/driver.py",
        "/proc/1/mem",
        "/proc/1/root",
        "/proc/1/environ",
        "/proc/self/mem",
        "/proc/self/oom_score_adj",
        "/proc/self/uid_map",
        "/proc/self/setgroups",
        "/proc/self/exe",
        "/proc/self/cwd",
        "/proc/self/fd/0",
        "/proc/self/fd/3",
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/proc/kcore",
        "/sys",
        "/sys/fs/cgroup",
        "/usr/bin/python3",
        "/etc/passwd",
        "/.private",
        "x",
        "y",
        "z",
        "x/x",
        "x/y",
    ]
)
_registers = st.one_of(st.integers(-2, 16), st.sampled_from([0x1000_0000, 1 << 31, (1 << 63) - 1, -4096, 4096]))


def _template(text: str, /, **parts: st.SearchStrategy[object]) -> _Lines:
    """Lines with {name} for each part, drawn and written as Python writes it; text parts of pids stay code."""
    return st.fixed_dictionaries(parts).map(lambda drawn: text.format(**{k: _literal(v) for k, v in drawn.items()}))


def _literal(value: object) -> str:
    return value if isinstance(value, str) and value.startswith(("os.", "-os.")) else repr(value)


_FOLDERS = st.sampled_from(["/box", "/tmp", "/dev/shm"])

#: What one line of a program may do. Each is tried: its error, if any, is its own.
LEAVES: tuple[_Lines, ...] = (
    _template("os.close({fd})", fd=_descriptors),
    _template("os.closerange({low}, {high})", low=_descriptors, high=_descriptors),
    _template("os.dup2({fd}, {to})", fd=_descriptors, to=_descriptors),
    _template("[attempt(lambda: os.write(fd, {data})) for fd in range({n})]", data=_bytes, n=_counts),
    _template("[attempt(lambda: os.read(fd, 1)) for fd in range(4, {n})]", n=_counts),
    _template("os.set_blocking({fd}, {on})", fd=_descriptors, on=st.booleans()),
    # Frames on the channel: lengths that lie, values that are none, descriptors that nobody asked for.
    _template(
        "os.write(3, struct.pack('>Q', {size}) + {data})", size=st.sampled_from([0, 1, 9, 1 << 31, 2**64 - 1]), data=_bytes
    ),
    _template("os.write(3, {data} * {n})", data=_bytes, n=st.sampled_from([1, 3, 1000, 100_000])),
    _template("socket.send_fds(socket.socket(fileno=os.dup(3)), [{data}], [0, 1, 2] * {n})", data=_bytes, n=_counts),
    _template("socket.socket(fileno=os.dup(3)).shutdown({how})", how=st.integers(0, 2)),
    _template("sys.stdout.write('x' * {n})", n=st.sampled_from([1, 1 << 12, 1 << 18, 1 << 22])),
    _template("sys.stderr.buffer.write(bytes({n}))", n=st.sampled_from([1, 1 << 12, 1 << 22])),
    _template("print('passed', 42, flush={flush})", flush=st.booleans()),
    _template("sys.stdin.read({n})", n=st.sampled_from([-1, 0, 1, 1 << 20])),
    _template("open({path}, {mode}).read(4096)", path=_paths, mode=st.sampled_from(["r", "rb", "r+b"])),
    _template("open({path}, 'wb').write(bytes({n}))", path=_paths, n=st.sampled_from([0, 1, 1 << 16, 6 << 20])),
    _template("open('/proc/self/oom_score_adj', 'w').write({text})", text=st.sampled_from(["1000", "-1000", "x"])),
    _template("held = [open('/dev/null') for _ in range({n})]", n=_counts),
    _template("held = [os.pipe() for _ in range({n})]", n=_counts),
    _template(
        "held = bytearray({n}); held[::4096] = b'x' * len(held[::4096])", n=st.sampled_from([1 << 20, 40 << 20, 400 << 20])
    ),
    _template("held = mmap.mmap(-1, {n}, prot={prot})", n=_amounts, prot=st.integers(0, 7)),
    _template("os.truncate(os.open({folder} + '/big', os.O_CREAT | os.O_RDWR), {n})", folder=_FOLDERS, n=_amounts),
    _template("os.kill({pid}, {sig})", pid=_pids, sig=_signals),
    _template("signal.signal({sig}, signal.SIG_IGN)", sig=_signals),
    _template("signal.signal({sig}, lambda *_: time.sleep({s}))", sig=_signals, s=_seconds),
    _template("signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))"),
    _template("signal.setitimer({which}, {s}, 0.001)", which=st.integers(0, 2), s=st.sampled_from([0.001, 0.05])),
    _template("resource.setrlimit({which}, ({soft}, {hard}))", which=st.integers(0, 15), soft=_amounts, hard=_amounts),
    _template("os.setpriority(os.PRIO_PROCESS, {pid}, {n})", pid=st.integers(0, 3), n=st.sampled_from([-20, 0, 19])),
    _template("os.sched_setaffinity(0, {{{cpu}}})", cpu=st.integers(0, 3)),
    _template("[attempt(lambda: os.mkdir({folder} + '/d%d' % n)) for n in range({n})]", folder=_FOLDERS, n=_counts),
    _template("[os.mkdir('x') or os.chdir('x') for _ in range({n})]", n=_counts),
    _template("os.symlink({to}, {at})", to=_paths, at=_paths),
    _template("os.rename({path}, {to})", path=_paths, to=_paths),
    _template("os.link({path}, {to})", path=_paths, to=_paths),
    _template("os.unlink({path})", path=_paths),
    _template("os.mkfifo({path}); open({path}).read()", path=st.sampled_from(["/box/fifo", "/tmp/fifo"])),
    _template("shutil.rmtree({path})", path=_paths),
    _template("os.chmod({path}, {mode})", path=_paths, mode=st.sampled_from([0, 0o777, 0o4755])),
    _template("os.chdir({path})", path=_paths),
    _template("os.chroot({path})", path=_paths),
    _template("time.sleep({s})", s=_seconds),
    _template("exec('while True: pass')"),
    _template("os._exit({code})", code=st.integers(-1, 256)),
    _template("sys.exit({code})", code=st.sampled_from([0, 1, 255, "a text"])),
    _template("os.abort()"),
    _template("ctypes.string_at({at})", at=st.sampled_from([0, 1, 1 << 40])),
    _template("f.__code__ = (lambda *a: 42).__code__"),
    _template("globals().clear()"),
    _template("sys.modules.clear()"),
    _template("sys.setrecursionlimit(1 << 30); (lambda g: g(g))(lambda g: g(g))"),
    _template(
        "threading.stack_size(1 << 16); [threading.Thread(target=time.sleep, args=(60,), daemon={d}).start() "
        "for _ in range({n})]",
        d=st.booleans(),
        n=_counts,
    ),
    _template("os.setsid()"),
    _template("os.setpgid(0, {pid})", pid=st.integers(0, 3)),
    _template("os.waitpid(-1, {how})", how=st.sampled_from([0, 1])),
    _template(
        "os.execv('/bin/sh', ['sh', '-c', {line}])",
        line=st.sampled_from(
            [
                "exit 3",
                "kill -9 $$",
                "sleep 60 & exit 0",
                "yes",
                "cat /dev/zero",
                "cat <&3",
                "echo x >&3",
                "ulimit -n 9; sh",
            ]
        ),
    ),
    _template(
        "os.execv(sys.executable, [sys.executable, '-c', {code}])",
        code=st.sampled_from(["print(42)", "import os; os.fork(); os.fork()", "import os; os.kill(1, 9)"]),
    ),
    _template("subprocess.Popen(['sleep', '60'], close_fds={close})", close=st.booleans()),
    _template("held = socket.socketpair({family}, {kind})", family=st.integers(0, 3), kind=st.integers(0, 6)),
    _template(
        "socket.socket({family}, {kind}, {proto})",
        family=st.integers(0, 45),
        kind=st.integers(0, 5),
        proto=st.integers(0, 3),
    ),
    _template("libc.prctl({option}, {a}, {b}, 0, 0)", option=st.integers(0, 75), a=_registers, b=_registers),
    _template("libc.unshare({flags})", flags=st.sampled_from([1 << bit for bit in (9, 17, 25, 26, 27, 28, 29, 30)])),
    _template("libc.mount(b'x', {path}.encode(), b'tmpfs', {flags}, 0)", path=_paths, flags=st.sampled_from([0, 32, 4096])),
    _template(
        "libc.syscall(*map(ctypes.c_long, {args}))",
        args=st.lists(_registers, min_size=6, max_size=6).flatmap(
            lambda args: st.integers(0, 470).map(lambda number: [number, *args])
        ),
    ),
)


def _indent(lines: str) -> str:
    return textwrap.indent(lines, "    ")


def _block(head: str, tail: str = "") -> Callable[[str], str]:
    return lambda body: f"{head}\n{_indent(body)}\n{_indent(tail) if tail else ''}"


#: What may be around other lines: other processes, threads, later, over and over.
BLOCKS: tuple[Callable[[str], str], ...] = (
    _block("if os.fork() == 0:", "os._exit(0)"),
    _block("if os.fork() == 0:\n    os.setsid()\n    if os.fork(): os._exit(0)", "os._exit(0)"),
    _block("if os.fork():", "pass"),
    _block("for _ in range(5):\n    os.fork()"),
    _block("for _ in range(3):"),
    _block("while True:"),
    _block("try:\n    raise KeyError\nfinally:"),
)
_CALLS = (
    "threading.Thread(target=work).start()",
    "signal.signal(signal.SIGALRM, work); signal.alarm(1)",
    "import atexit; atexit.register(work)",
    "sys.settrace(work)",
    "work()",
)


def _tried(line: str) -> str:
    return f"try:\n{_indent(line)}\nexcept Exception: pass"


def _joined(lines: list[str]) -> str:
    return "\n".join(lines)


_line = st.one_of(LEAVES)
_lines = st.recursive(
    st.one_of(_line.map(_tried), _line.map(_tried), _line),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(_joined),
        st.builds(lambda around, body: around(body), st.sampled_from(BLOCKS), inner),
        st.builds(lambda body, call: f"{_block('def work(*_):')(body)}\n{_tried(call)}", inner, st.sampled_from(_CALLS)),
    ),
    max_leaves=10,
)

#: Texts of hostile programs. They end with a line that says so, which few of them reach.
programs: st.SearchStrategy[str] = st.lists(_lines, min_size=1, max_size=5).map(
    lambda parts: "\n".join([PRELUDE, *parts, "print('end')\n"])
)
