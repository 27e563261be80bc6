"""A guest runs as under `python3 main.py`: the same output, the same end, the same words on stderr.

The programs are in tests/data/fidelity.txt. Each runs three times: as a plain process, in a cold jail, in a warm one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from jails import PATIENCE

from jailpy import Jail, Limits, Policy, Status, languages
from jailpy.roots import INSIDE

DATA = Path(__file__).parent.parent / "data" / "fidelity.txt"
LIMITS = Limits(cpu_s=PATIENCE, wall_s=PATIENCE)

#: Programs whose stderr may differ above its last line, and why.
LAST_LINE = {
    "stderr_closed_then_error": "C code prints the reference count of the exception",
    "atexit_exits": "the interpreter ties an exception without a traceback to the frame that is running, here ours",
    "builtins_changed_and_exit": "the interpreter cannot print source lines without builtins, except from our frames",
}

#: What no text file in UTF-8 can hold.
ENCODINGS = {
    "latin_1_cookie": b"# -*- coding: latin-1 -*-\nprint('\xe9', ascii('\xe9'))\n",
    "cookie_in_line_2": b"#!/usr/bin/python3\n# vim: set fileencoding=cp1252 :\nprint(ascii('\x80'))\n",
    "no_cookie": b"print(1)\nx = '\xe9'\n",
    "no_cookie_in_comment": b"# caf\xe9\nprint(1)\n",
    "lone_surrogate": b"print('\xed\xa0\x80')\n",
    "byte_order_mark": b"\xef\xbb\xbfprint('mark \xc3\xa9')\n",
    "crlf": b"x = 1\r\nif x:\r\n    print('''a\r\nb''', repr('''a\r\nb'''))\r\n",
    "cr": b"x = 1\rprint(x)\r",
    "form_feed": b"\x0cx = 1\n\x0cprint(x)\n",
    "control_z": b"print(1)\n\x1aprint(2)\n",
    "no_newline_after_block": b"if True:\n    print(1)",
    "backslash_at_end": b"x = 1 + \\",
    "blanks_only": b"   \n\t\n",
    "names": "né = 1\nprint(né)\n".encode(),
    "wrong_dash": "x = 1 \u2013 2\n".encode(),
    "no_break_space": "x\u00a0= 1\n".encode(),
    "huge_number": b"x = " + b"9" * 5000 + b"\n",
    "too_many_parentheses": b"x = " + b"(" * 300 + b")" * 300 + b"\n",
    "long_sum": b"x = " + b"+".join([b"1"] * 5000) + b"\nprint(x)\n",
    "long_line": b"x = '" + b"a" * 200_000 + b"'\nprint(len(x))\n",
}


@dataclass(frozen=True)
class Program:
    code: bytes
    stdin: bytes = b""
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Ending:
    """Exit code, or the signal below 0; stdout; stderr."""

    code: int | str | None
    stdout: bytes
    stderr: bytes


def _read_programs() -> dict[str, Program]:
    programs = {}
    for section in DATA.read_bytes().split(b"\n=== ")[1:]:
        name, _, body = section.partition(b"\n")
        code, *parts = re.split(rb"(?m)^--- (.*)\n", body.rstrip(b"\n") + b"\n")
        stdin, files = b"", {}
        for kind, content in zip(parts[::2], parts[1::2], strict=True):
            if kind == b"stdin":
                stdin = content
            else:
                files[kind.decode().removeprefix("file ")] = content
        programs[name.decode()] = Program(code, stdin, files)
    return programs


PROGRAMS = _read_programs() | {name: Program(code) for name, code in ENCODINGS.items()}


def _normal(text: bytes, folder: str = "") -> bytes:
    """Without what differs between two plain runs: the folder's name, and addresses."""
    if folder:
        text = text.replace(folder.encode(), INSIDE.work.encode())
    return re.sub(rb"0x[0-9a-f]{6,}", b"0x", text)


def _run_plain(program: Program, folder: Path) -> Ending:
    for name, content in {**program.files, "main.py": program.code}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o644)
    environment = dict(pair.split("=", 1) for pair in languages.environment(Policy(), LIMITS.processes, INSIDE))
    with subprocess.Popen(
        [languages.interpreter(Policy()).executable, "main.py"],
        cwd=folder,
        env={**environment, "HOME": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        umask=0o022,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # a background job ignores it
    ) as process:
        stdout, stderr = process.communicate(program.stdin, timeout=PATIENCE)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-process.pid, 0)
    return Ending(process.returncode, _normal(stdout, str(folder)), _normal(stderr, str(folder)))


def _run_in(jail: Jail, program: Program) -> Ending:
    result = jail.run(program.code, program.stdin, files=program.files, limits=LIMITS)
    code: int | str | None = result.status.value
    if result.status is Status.EXITED:
        code = result.exit_code
    elif result.signal is not None:
        code = -result.signal
    return Ending(code, _normal(result.stdout), _normal(result.stderr))


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Ending]:
    """How a program ends as a plain process."""

    @functools.cache
    def run(name: str) -> Ending:
        return _run_plain(PROGRAMS[name], tmp_path_factory.mktemp("plain"))

    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_a_plain_process(plain: Callable[[str], Ending], jail: Jail, name: str) -> None:
    expected, got = plain(name), _run_in(jail, PROGRAMS[name])
    assert got.stdout.decode("utf-8", "backslashreplace") == expected.stdout.decode("utf-8", "backslashreplace")
    if name in LAST_LINE:
        assert got.stderr.splitlines()[-1:] == expected.stderr.splitlines()[-1:]
    else:
        assert got.stderr.decode("utf-8", "backslashreplace") == expected.stderr.decode("utf-8", "backslashreplace")
    assert got.code == expected.code


class TestDifferences:
    """Where a guest does see a difference: known, small and bounded."""

    def test_the_recursion_limit_counts_the_calls_below_the_program(self, jail: Jail) -> None:
        result = jail.run("import sys; print(sys.getrecursionlimit())")
        assert 1000 < int(result.stdout) < 1010

    def test_outermost_frames_are_ours(self, jail: Jail) -> None:
        result = jail.run("import sys\nframe = sys._getframe().f_back\nprint(frame.f_code.co_filename)")
        assert result.stdout == b"/jailpy/driver.py\n"

    def test_code_with_nul_never_runs(self, jail: Jail) -> None:
        # Some interpreters cut lines at a NUL, newer ones refuse the file; here none takes it.
        result = jail.run(b"print(1)\n\0\nprint(2)\n")
        assert (result.status, result.exit_code, result.stdout) == (Status.EXITED, 1, b"")
        assert b"null bytes" in result.stderr


_CHANCE = """
import os, random, secrets, string, tempfile, uuid
print(random.random(), random.Random().random(), secrets.token_hex(), uuid.uuid4(), os.urandom(8).hex())
print(tempfile.mktemp(), random.SystemRandom().random(), "".join(random.choices(string.ascii_letters, k=20)))
"""
_CHANCE_OF_NUMPY = "import numpy\nprint(numpy.random.random(), numpy.random.default_rng().random())\n"


class TestChance:
    """No two guests share the state of a random generator."""

    def test_differs(self, jail: Jail) -> None:
        runs = [jail.run(_CHANCE).stdout.split() for _ in range(4)]
        assert all(len(set(column)) == 4 for column in zip(*runs, strict=True)), runs

    @pytest.mark.parametrize("preload", [("secrets", "tempfile", "uuid", "ssl"), ("numpy", "numpy.random")])
    def test_differs_when_preloaded(self, policy: Policy, preload: tuple[str, ...]) -> None:
        code = _CHANCE
        if "numpy" in preload:  # that of the tests' own environment
            policy = dataclasses.replace(policy, python=sys.executable)
            code = _CHANCE_OF_NUMPY
        with Jail(policy, workers=1, preload=preload) as jail:
            runs = [jail.run(code, limits=LIMITS).stdout.split() for _ in range(4)]
        assert runs[0]
        assert all(len(set(column)) == 4 for column in zip(*runs, strict=True)), runs

    def test_seeded_is_equal(self, jail: Jail) -> None:
        code = "import random\nrandom.seed(7)\nprint(random.random(), hash('a'), {'x', 'y', 'z'})"
        assert len({jail.run(code).stdout for _ in range(3)}) == 1


class TestModules:
    def test_a_preloaded_module_is_as_new(self, policy: Policy) -> None:
        with Jail(policy, workers=1, preload=("decimal", "logging")) as jail:
            jail.run("import decimal, logging\ndecimal.getcontext().prec = 3\nlogging.root.level = 1\nlogging.foo = 1")
            result = jail.run(
                "import decimal, logging\nprint(decimal.getcontext().prec, logging.root.level, hasattr(logging, 'foo'))"
            )
        assert result.stdout == b"28 30 False\n"

    def test_files_beside_a_call_come_first(self, jail: Jail) -> None:
        files = {"heapq.py": "x = 1\n", "main2.py": "import heapq\nprint(heapq.x)\n"}
        assert jail.run("import main2, heapq; print(heapq.x + 1)", files=files).stdout == b"1\n2\n"
