"""Project tests: hidden tests judge a program's files, and nothing of those files tells the runner what to do."""

from __future__ import annotations

import dataclasses
import importlib._bootstrap_external as bootstrap
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jails import PATIENCE

from jailpy import Grade, Jail, Limits, Policy, Status, UsageError, Verdict

WIDE = Limits(cpu_s=PATIENCE, wall_s=PATIENCE)
DATA = Path(__file__).parent.parent / "data"
Tree = dict[str, str | bytes]
#: For tests of what is the same in both ways: the way in which a guest's files are there before its interpreter.
cold_alone = pytest.mark.parametrize("way", ["cold"], indirect=True)


def _split(mark: str, text: str) -> Iterator[tuple[str, str]]:
    parts = re.split(rf"^{mark} (.*)\n", text, flags=re.MULTILINE)
    return zip(parts[1::2], parts[2::2], strict=True)


def _file(name: str, text: str) -> tuple[str, str | bytes]:
    """A file's name for this Python; what is compiled is not compared with its source when it is imported."""
    version = sys.version_info
    name = name.format(major=version.major, minor=version.minor, tag=sys.implementation.cache_tag)
    if not name.endswith(".pyc"):
        return name, text
    code = compile(text, "helpers.py", "exec")
    return name, bootstrap._code_to_hash_pyc(code, b"\0" * 8, checked=False)  # type: ignore[attr-defined]


SECTIONS: dict[str, Tree] = {
    name: dict(_file(*pair) for pair in _split("---", text))
    for name, text in _split("===", (DATA / "project.txt").read_text(encoding="utf-8"))
}
PROGRAM, HIDDEN = SECTIONS["program"], SECTIONS["hidden"]
RIGHT: Tree = {"solution.py": "def add(a, b):\n    return a + b\n"}
EXPECTED = [
    "tests/test_a.py::test_loads",
    *("tests/test_z.py::test_adds", "tests/test_z.py::test_adds_exactly", "tests/test_z.py::TestAdd::test_adds_more"),
]
TEST = {"type": "project", "files": HIDDEN, "expected": EXPECTED}
WRONG = "tests/test_z.py::test_adds failed: AssertionError at helpers.py:2 in same"


def _of(kind: str) -> list[str]:
    return [name for name in SECTIONS if name.startswith(kind)]


def _tree(name: str) -> Tree:
    return {**PROGRAM, **SECTIONS[name]}


@pytest.fixture(scope="module")
def policy(policy: Policy) -> Policy:
    """With the packages of the tests' own environment, which has pytest."""
    return dataclasses.replace(policy, python=sys.executable)


def judge(jail: Jail, code: Any, test: dict[str, Any] = TEST, **options: Any) -> tuple[Verdict, str]:
    grade = jail.grade(code, [test], **{"limits": WIDE, **options})
    assert grade.in_process is options.get("in_process", False)
    return grade.verdict, grade.outcomes[0].reason


@pytest.mark.parametrize("in_process", [False, True])
class TestHonest:
    """The same with the program and without it in the jail of the tests."""

    def test_files(self, jail: Jail, in_process: bool) -> None:
        assert judge(jail, RIGHT, in_process=in_process) == (Verdict.PASSED, "")

    def test_one_text(self, jail: Jail, in_process: bool) -> None:
        assert judge(jail, RIGHT["solution.py"], in_process=in_process) == (Verdict.PASSED, "")

    def test_a_wrong_answer_says_which_test(self, jail: Jail, in_process: bool) -> None:
        verdict, reason = judge(jail, PROGRAM, in_process=in_process)
        assert (verdict, reason) == (Verdict.WRONG_ANSWER, WRONG)

    def test_a_package(self, jail: Jail, in_process: bool) -> None:
        code = {
            "pkg/__init__.py": "from .core import twice\nfrom . import core\n",
            "pkg/core.py": "import util\nLIMIT = 3\ndef twice(x): return util.add(x, x)\n"
            "def slow(): return fetch() + LIMIT\ndef fetch(): raise OSError('no network')\n"
            "class Refused(ValueError): pass\ndef refuse(): raise Refused('no')\n",
            "util.py": "def add(a, b): return a + b\n",
        }
        hidden = {
            "test_pkg.py": "import pytest\nfrom unittest import mock\n"
            "import pkg\nimport pkg.core as core\nfrom pkg import twice\nfrom pkg.core import *\n"
            "def test_imports():\n    assert pkg.core is core and pkg.twice(2) == twice(2) == core.twice(2) == 4\n"
            "    assert 'LIMIT' in dir(core) and LIMIT == 3 and isinstance(pkg, type(pytest))\n"
            "def test_patches(monkeypatch):\n    monkeypatch.setattr(core, 'fetch', lambda: 1)\n"
            "    assert core.slow() == 4\n"
            "    with mock.patch('pkg.core.LIMIT', 5): assert core.slow() == 6\n    assert core.slow() == 4\n"
            "def test_is_patched_back():\n    with pytest.raises(OSError, match='no network'): core.slow()\n"
            "def test_refuses():\n    with pytest.raises(Refused): core.refuse()\n"
            "def test_has_no_other():\n    with pytest.raises(ImportError): import pkg.other as other\n"
            "    with pytest.raises(ImportError): from pkg import other\n"
            "    with pytest.raises(AttributeError): pkg.other\n",
        }
        names = ("test_imports", "test_patches", "test_is_patched_back", "test_refuses", "test_has_no_other")
        test = {"files": hidden, "expected": [f"test_pkg.py::{name}" for name in names], "modules": ["pkg"]}
        assert judge(jail, code, test, in_process=in_process) == (Verdict.PASSED, "")

    def test_the_runner_is_the_callers_to_configure(self, jail: Jail, in_process: bool) -> None:
        hidden = {
            "setup.cfg": "[tool:pytest]\npython_functions = check_*\n",
            "checks/conftest.py": "import pytest\n@pytest.fixture\ndef three(): return 3\n",
            "checks/test_it.py": "import solution\ndef check_it(three, tmp_path, capsys):\n    print(solution.add(1, 2))\n"
            "    assert solution.add(1, 2) == three and capsys.readouterr().out == '3\\n'\n",
        }
        test = {"files": hidden, "expected": ["checks/test_it.py::check_it"]}
        assert judge(jail, RIGHT, test, in_process=in_process) == (Verdict.PASSED, "")

    def test_files_cross_where_tests_have_theirs(self, jail: Jail, in_process: bool) -> None:
        code = "def copy(a, b):\n    with open(a) as file, open(b, 'w') as out: out.write(file.read() + '!')\n"
        hidden = {
            "test_it.py": "import solution\ndef test_it(tmp_path):\n    (tmp_path / 'a').write_text('hi')\n"
            "    solution.copy(str(tmp_path / 'a'), str(tmp_path / 'b'))\n"
            "    assert (tmp_path / 'b').read_text() == 'hi!'\n"
        }
        test = {"files": hidden, "expected": ["test_it.py::test_it"]}
        assert judge(jail, code, test, in_process=in_process) == (Verdict.PASSED, "")

    def test_modules_are_loaded_again(self, jail: Jail, in_process: bool) -> None:
        code = {
            "counter.py": "import state\nstate.loads += 1\ndef loads(): return state.loads\n",
            "state.py": "loads = 0\n",
        }
        hidden = {
            "test_it.py": "import importlib, sys\nimport counter\n"
            "def test_it():\n    assert counter.loads() == 1\n    importlib.import_module('counter')\n"
            "    assert counter.loads() == 1\n    assert importlib.reload(counter) is counter\n"
            "    assert counter.loads() == 2\n    first = sys.modules.pop('counter')\n"
            "    import counter as second\n    assert second is not first and second.loads() == first.loads() == 3\n"
        }
        test = {"files": hidden, "expected": ["test_it.py::test_it"], "modules": ["counter"]}
        assert judge(jail, code, test, in_process=in_process) == (Verdict.PASSED, "")

    def test_input_that_is_shared(self, jail: Jail, in_process: bool) -> None:
        code = "def read(path):\n    with open(path) as file: return file.read()\n"
        hidden = {
            "tests/input.txt": "hi",
            "tests/test_it.py": "import pathlib\nimport solution\nhere = pathlib.Path(__file__).parent\n"
            "def test_it():\n    assert solution.read(here / 'input.txt') == 'hi'\n",
        }
        test = {"files": hidden, "expected": ["tests/test_it.py::test_it"], "shared": ["tests/input.txt"]}
        assert judge(jail, code, test, in_process=in_process) == (Verdict.PASSED, "")
        if not in_process:
            assert "FileNotFoundError" in judge(jail, code, {**test, "shared": []})[1]

    def test_the_program_is_where_the_test_is(self, jail: Jail, in_process: bool) -> None:
        code = (
            "import os\ndef save(path, name):\n"
            "    with open(path.name, 'w') as file: file.write(os.environ.get(name, '-'))\n"
            "    return path.parent / os.path.basename(os.getcwd())\n"
        )
        hidden = {
            "test_it.py": "import solution\ndef save(path):\n    found = solution.save(path, 'A_NAME')\n"
            "    return found == path.parent / path.parent.name, path.read_text()\n"
            "def test_it(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n"
            "    monkeypatch.setenv('A_NAME', 'b')\n    assert save(tmp_path / 'x') == (True, 'b')\n"
            "    monkeypatch.undo()\n    assert not (tmp_path / 'y').exists()\n    monkeypatch.chdir(tmp_path)\n"
            "    assert save(tmp_path / 'y') == (True, '-')\n"
        }
        test = {"files": hidden, "expected": ["test_it.py::test_it"]}
        assert judge(jail, code, test, in_process=in_process) == (Verdict.PASSED, "")

    @cold_alone
    @pytest.mark.parametrize(
        ("body", "verdict", "reason"),
        [
            ("def test_it(): solution.f(0)", Verdict.RUNTIME_ERROR, "test_it.py::test_it failed: ZeroDivisionError: "),
            ("@pytest.mark.skip(reason='not now')\ndef test_it(): pass", Verdict.RUNTIME_ERROR, "skipped, or expected"),
            ("@pytest.mark.xfail\ndef test_it(): assert False", Verdict.WRONG_ANSWER, "skipped, or expected to fail"),
            ("@pytest.mark.xfail\ndef test_it(): pass", Verdict.RUNTIME_ERROR, "skipped, or expected to fail"),
            ("@pytest.fixture\ndef a():\n    yield\n    1 / 0\ndef test_it(a): pass", Verdict.RUNTIME_ERROR, "Zero"),
            ("@pytest.fixture\ndef a(): 1 / 0\ndef test_it(a): pass", Verdict.RUNTIME_ERROR, "failed: ZeroDivisionError"),
            ("def test_other(): pass", Verdict.RUNTIME_ERROR, "test_it.py::test_it was not run"),
            ("1 / 0", Verdict.RUNTIME_ERROR, "test_it.py: ZeroDivisionError: division by zero at test_it.py:3"),
            ("from solution import g\ndef test_it(): pass", Verdict.RUNTIME_ERROR, "cannot import name 'g'"),
            (
                "import unittest\nclass Test(unittest.TestCase):\n    def test_it(self):\n"
                "        with self.subTest(n=1): self.assertEqual(solution.f(1), 2)\n",
                Verdict.WRONG_ANSWER,
                "AssertionError: 1 != 2",
            ),
        ],
        ids=["raises", "skip", "xfail", "xpass", "teardown", "setup", "missing", "collection", "import", "subtest"],
    )
    def test_what_is_not_passed(self, jail: Jail, in_process: bool, body: str, verdict: Verdict, reason: str) -> None:
        hidden = {"test_it.py": f"import pytest\nimport solution\n{body}\n", "test_ok.py": "def test_ok(): pass"}
        name = "test_it.py::Test::test_it" if "unittest" in body else "test_it.py::test_it"
        test = {"files": hidden, "expected": ["test_ok.py::test_ok", name]}
        found, why = judge(jail, "def f(x): return 1 // x\n", test, in_process=in_process)
        assert reason in why
        assert found is verdict

    def test_a_program_that_does_not_compile(self, jail: Jail, in_process: bool) -> None:
        verdict, reason = judge(jail, "def add(:\n", in_process=in_process)
        assert verdict is Verdict.COMPILE_ERROR
        assert "SyntaxError: invalid syntax (solution.py, line 1)" in reason

    @pytest.mark.parametrize("name", ["../solution.py", "a//b.py", "/a.py", "a\0.py", "\ud800.py"])
    def test_names_that_no_file_can_have_are_the_programs_fault(self, jail: Jail, in_process: bool, name: str) -> None:
        verdict, reason = judge(jail, {**RIGHT, name: ""}, in_process=in_process)
        assert verdict is Verdict.COMPILE_ERROR
        assert reason.startswith("code[")


NAIVE = """
import os, site, subprocess, sys
from xml.etree import ElementTree
os.chdir("tree")
paths = os.pathsep.join([".", *[path for path in sys.path if path.endswith("-packages")]])
environment = {**os.environ, "PYTHONPATH": paths, "HOME": os.getcwd()}
command = [sys._base_executable, "-m", "pytest", "-q", "--junitxml=report.xml", "tests"]
done = subprocess.run(command, env=environment, capture_output=True, text=True)
print("exit", done.returncode, *done.stdout.split("\\n")[-2:])
"""


def naive(policy: Policy, tree: Tree) -> str:
    """What a runner that trusts what it finds says of a tree: in a jail, for the controls."""
    with Jail(policy, workers=1, warm=False) as jail:
        files = {f"tree/{name}": content for name, content in {**tree, **HIDDEN}.items()}
        result = jail.run(NAIVE, files=files, limits=WIDE)
    assert result.ok, result
    return result.stdout.decode()


def test_the_control_fails_what_is_wrong(policy: Policy) -> None:
    assert naive(policy, PROGRAM).startswith("exit 1 3 failed, 1 passed")
    assert naive(policy, RIGHT).startswith("exit 0 4 passed")


@pytest.mark.parametrize("name", [*_of("attack"), *_of("beside"), *_of("naive"), "exit: at once", "exit: in a call"])
def test_attacks_work_where_nobody_guards(policy: Policy, name: str) -> None:
    assert naive(policy, _tree(name)).startswith("exit 0")


@pytest.mark.parametrize("name", [*_of("attack"), *_of("beside"), *_of("naive")])
def test_no_attack_passes(jail: Jail, name: str) -> None:
    verdict, reason = judge(jail, _tree(name))
    assert verdict is Verdict.WRONG_ANSWER
    assert reason.startswith("tests/test_z.py::test_adds failed: AssertionError")


@pytest.mark.parametrize("name", _of("exit"))
def test_ending_is_not_passing(jail: Jail, name: str) -> None:
    reason = "the program ended before its test: exit code 0: nothing on stderr"
    assert judge(jail, _tree(name)) == (Verdict.RUNTIME_ERROR, reason)
    assert judge(jail, _tree(name), in_process=True)[0] is Verdict.RUNTIME_ERROR


@cold_alone
@pytest.mark.parametrize("name", _of("attack"))
def test_beside_the_program_its_files_configure_nothing(jail: Jail, name: str) -> None:
    verdict, reason = judge(jail, _tree(name), in_process=True)
    if name in STILL_WORK_BESIDE:
        assert (verdict, reason) == (Verdict.PASSED, "")
    else:
        assert (verdict, reason) == (Verdict.WRONG_ANSWER, WRONG)


STILL_WORK_BESIDE = ("attack: a package around the tests", "attack: a module of the standard library's name")


@pytest.mark.parametrize("name", _of("beside"))
def test_beside_the_program_passes_are_forged(jail: Jail, name: str) -> None:
    assert judge(jail, _tree(name), in_process=True) == (Verdict.PASSED, "")


FRAME = f"""
import os, sys
sys.path.append("/jailpy")
import values
tests = tuple((name, "passed", ("", "", "")) for name in {EXPECTED!r})
frame = values.encode({{"done": True, "exit": 0, "broken": (), "tests": tests}})
os.write(3, len(frame).to_bytes(8, "big") + frame)
os._exit(0)
"""


def test_a_forged_frame_is_heard_only_beside_the_program(jail: Jail) -> None:
    assert judge(jail, FRAME, in_process=True) == (Verdict.PASSED, "")
    verdict, reason = judge(jail, FRAME)
    assert (verdict, reason) == (Verdict.RUNTIME_ERROR, "the program ended before its test: exit code 0: nothing on stderr")


def test_nothing_that_is_hidden_lies_in_the_programs_jail(jail: Jail) -> None:
    code = (
        "import os\ndef look():\n    found = []\n    for root in ('/box', '/tmp', '/dev/shm'):\n"
        "        for folder, _, names in os.walk(root):\n            for name in names:\n"
        "                found.append(open(os.path.join(folder, name), 'rb').read())\n"
        "    return any(b'48151' + b'62342' in text for text in found)"
    )
    hidden = {
        "data.txt": "4815162342",
        "test_it.py": "import solution\ndef test_it():\n    assert solution.look() is False\n"
        "def test_seen():\n    assert solution.look() is True\n",
    }
    assert judge(jail, code, {"files": hidden, "expected": ["test_it.py::test_it"]}) == (Verdict.PASSED, "")
    seen = {"files": hidden, "expected": ["test_it.py::test_seen"]}
    assert judge(jail, code, seen, in_process=True) == (Verdict.PASSED, "")


def test_the_program_writes_no_file_beside_the_tests(jail: Jail) -> None:
    code = (
        "import os\ndef plant():\n    for folder in ('.', '/box', '/box/tests', '/tmp/../box', '/tmp/link'):\n"
        "        os.makedirs(folder, exist_ok=True)\n        open(folder + '/planted.py', 'w').close()\n"
    )
    hidden = {
        "tests/test_it.py": "import os\nimport solution\n"
        "def listed(): return os.listdir('/box'), os.listdir('/box/tests')\n"
        "def test_it(tmp_path):\n    before = listed()\n    os.symlink('/box/tests', '/tmp/link')\n"
        "    solution.plant()\n    solution.plant()\n    assert listed() == before\n"
    }
    test = {"files": hidden, "expected": ["tests/test_it.py::test_it"]}
    assert judge(jail, code, test) == (Verdict.PASSED, "")
    assert judge(jail, code, test, in_process=True)[0] is Verdict.WRONG_ANSWER


@pytest.mark.parametrize(
    ("definition", "use", "reason"),
    [
        ("def sorted(x): return [1]", "assert sorted([2, 1]) == [1]", "solution.sorted has the name of a built-in one"),
        ("def pytest_runtest_call(item): 1 / 0\npytestmark = 1\ndef test_it(): pass", "assert f() == 2", "assert 1 == 2"),
        ("class math:\n    isclose = lambda *args: True", "import math\n    assert math.isclose(f(), 2)", "assert False"),
    ],
    ids=["a built-in", "hooks", "a module"],
)
def test_star_imports_bring_nothing_that_judges(jail: Jail, definition: str, use: str, reason: str) -> None:
    hidden = {"test_it.py": f"import math\nfrom solution import *\ndef test_it():\n    {use}\n"}
    code = f"{definition}\ndef f(): return 1\n"
    assert reason in judge(jail, code, {"files": hidden, "expected": ["test_it.py::test_it"]})[1]


@pytest.mark.parametrize(
    ("program", "status", "verdict", "reason"),
    [
        ("while True: pass", Status.CPU_TIME, Verdict.TIME_LIMIT, "CPU time"),
        ("def add(a, b):\n    while True: pass", Status.CPU_TIME, Verdict.TIME_LIMIT, "CPU time"),
        ("def add(a, b): return [0] * 10**9", Status.MEMORY, Verdict.MEMORY_LIMIT, "memory"),
        ("import os\ndef add(a, b):\n    while 1: os.write(1, bytes(999))", Status.OUTPUT, Verdict.OUTPUT_LIMIT, "output"),
        ("def add(a, b):\n    import os\n    os.kill(os.getpid(), 9)", Status.SIGNALLED, Verdict.RUNTIME_ERROR, "SIGKILL"),
        ("def add(a, b): raise SystemExit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "test_adds failed: SystemExit: 0"),
        ("raise SystemExit(0)", Status.EXITED, Verdict.RUNTIME_ERROR, "SystemExit"),
        ("def add(a, b): raise KeyboardInterrupt", Status.EXITED, Verdict.RUNTIME_ERROR, "KeyboardInterrupt"),
        ("import unittest\ndef add(a, b): raise unittest.SkipTest", Status.EXITED, Verdict.RUNTIME_ERROR, "SkipTest"),
        ("import pytest\ndef add(a, b): pytest.skip('no')", Status.EXITED, Verdict.RUNTIME_ERROR, "Skipped: no"),
        ("import pytest\ndef add(a, b): pytest.exit('no', 0)", Status.EXITED, Verdict.RUNTIME_ERROR, "raised Exit"),
    ],
    ids=[
        *("spins at once", "spins in a call", "memory", "output", "kills itself", "SystemExit in a call"),
        *("SystemExit at once", "KeyboardInterrupt", "unittest skips", "pytest skips", "pytest exits"),
    ],
)
def test_ends_of_the_program(jail: Jail, program: str, status: Status, verdict: Verdict, reason: str) -> None:
    limits = Limits(cpu_s=3, wall_s=PATIENCE, memory_mb=300, output_mb=2)
    outcome = jail.grade(program, [TEST], limits=limits).outcomes[0]
    assert reason in outcome.reason
    assert (outcome.status, outcome.verdict) == (status, verdict)


def test_it_is_one_test_among_others(jail: Jail) -> None:
    code = "def add(a, b):\n    return a + b\n"
    call = {"function": "add", "args": [1, 2], "expected": 4}
    grade: Grade = jail.grade(code, [TEST, call, "assert add(1, 2) == 3", TEST], limits=WIDE, stop_early=True)
    assert [outcome.verdict for outcome in grade.outcomes] == [
        Verdict.PASSED,
        *(Verdict.WRONG_ANSWER, Verdict.SKIPPED, Verdict.SKIPPED),
    ]


PROJECTS = [json.loads(line) for line in (DATA / "projects.jsonl").read_text(encoding="utf-8").splitlines()]


@cold_alone
@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.parametrize("row", PROJECTS, ids=lambda row: row["id"].rpartition("/")[2])
def test_public_projects(jail: Jail, row: dict[str, Any], in_process: bool) -> None:
    test = {key: row[key] for key in ("files", "expected", "modules")}
    assert judge(jail, row["program"], test, in_process=in_process) == (Verdict.PASSED, "")
    assert judge(jail, row["stub"], test, in_process=in_process)[0] in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)


class TestUsage:
    @pytest.mark.parametrize(
        ("code", "tests", "field"),
        [
            (RIGHT, [TEST, {"input": "", "expected_output": ""}], "code"),
            (RIGHT, ["assert add(1, 2) == 3"], "code"),
            ({"solution.py": 3}, [TEST], "code['solution.py']"),
            (RIGHT, [{**TEST, "modules": ["json"]}], "tests[0].modules"),
            (RIGHT, [{**TEST, "modules": ["_pytest"]}], "tests[0].modules"),
        ],
    )
    def test_what_does_not_go_together(self, jail: Jail, code: Any, tests: Any, field: str) -> None:
        with pytest.raises(UsageError) as caught:
            jail.grade(code, tests)
        assert caught.value.field == field

    def test_a_python_without_pytest(self, policy: Policy) -> None:
        needs = r"policy.python: project tests need pytest .* Policy\(python=...\)"
        with Jail(dataclasses.replace(policy, python=None), warm=False) as jail, pytest.raises(UsageError, match=needs):
            jail.grade(RIGHT, [TEST])
