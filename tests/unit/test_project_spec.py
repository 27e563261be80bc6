"""Project tests as data, what of a program's files is laid out with them, and reports as verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from jailpy import UsageError, Verdict
from jailpy.limits import Limits
from jailpy.programs import check_program, pair_for, program, task_for
from jailpy.project import OWN_INI, ProjectTest, without_configuration
from jailpy.report import judge_report
from jailpy.roots import File
from jailpy.testcase import parse_tests

FILES = {"tests/test_a.py": "def test_one(): pass", "tests/helpers.py": b"\xff"}
EXPECTED = ["tests/test_a.py::test_one", "tests/test_a.py::TestIt::test_two[a-b]"]
GIVEN: dict[str, Any] = {"files": FILES, "expected": EXPECTED}


def parse(**more: Any) -> ProjectTest:
    (test,) = parse_tests([{**GIVEN, **more}])
    assert isinstance(test, ProjectTest)
    return test


class TestParsing:
    def test_what_may_be_left_out(self) -> None:
        test = parse()
        assert test.files == (
            File("tests/test_a.py", b"def test_one(): pass"),
            File("tests/helpers.py", b"\xff"),
        )
        assert (test.expected, test.modules, test.in_process) == (tuple(EXPECTED), ("solution",), False)
        assert (test.weight, test.group, test.size) == (1.0, None, None)

    def test_what_may_be_given(self) -> None:
        test = parse(type="project", modules=["core", "util"], in_process=True, weight=2, group="g", id="x")
        assert (test.modules, test.in_process, test.weight, test.group) == (("core", "util"), True, 2.0, "g")

    def test_the_calls_word_on_in_process_is_the_default(self) -> None:
        tests = parse_tests([GIVEN, {**GIVEN, "in_process": False}], in_process=True)
        assert [isinstance(test, ProjectTest) and test.in_process for test in tests] == [True, False]

    def test_a_made_one_is_taken_as_it_is(self) -> None:
        assert parse_tests(parse()) == (parse(),)

    @pytest.mark.parametrize(
        ("more", "field"),
        [
            ({"expected": []}, "tests[0].expected"),
            ({"expected": "tests/test_a.py::test_one"}, "tests[0].expected"),
            ({"expected": ["tests/test_a.py"]}, "tests[0].expected[0]"),
            ({"expected": ["tests/test_b.py::test_one"]}, "tests[0].expected[0]"),
            ({"expected": [EXPECTED[0], "tests/test_a.py::" + "x" * 1000]}, "tests[0].expected[1]"),
            ({"expected": [EXPECTED[0], EXPECTED[0]]}, "tests[0].expected"),
            ({"expected": [f"tests/test_a.py::test_{i}" for i in range(10_001)]}, "tests[0].expected"),
            ({"files": ["a"]}, "tests[0].files"),
            ({"files": {"../test_a.py": ""}}, "tests[0].files['../test_a.py']"),
            ({"files": {**FILES, "tests": ""}}, "tests[0].files['tests']"),
            ({"files": {**FILES, "a": 1}}, "tests[0].files['a']"),
            ({"files": {**FILES, OWN_INI: ""}}, f"tests[0].files['{OWN_INI}']"),
            ({"files": {**FILES, "solution.py": ""}}, "tests[0].files['solution.py']"),
            ({"files": {**FILES, "solution/__init__.py": ""}}, "tests[0].files['solution/__init__.py']"),
            ({"modules": []}, "tests[0].modules"),
            ({"modules": ["a.b"]}, "tests[0].modules[0]"),
            ({"in_process": 1}, "tests[0].in_process"),
            ({"shared": ["tests/data.json"]}, "tests[0].shared[0]"),
            ({"shared": "tests/helpers.py"}, "tests[0].shared"),
            ({"command": ["make", "test"]}, "tests[0].command"),
            ({"report": "report.xml"}, "tests[0].report"),
            ({"prelude": ""}, "tests[0].prelude"),
        ],
        ids=lambda value: "-".join(value) if isinstance(value, dict) else str(value)[:40],
    )
    def test_what_is_wrong_is_named(self, more: dict[str, Any], field: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse(**more)
        assert caught.value.field == field

    @pytest.mark.parametrize("key", ["files", "expected"])
    def test_what_must_be_given(self, key: str) -> None:
        with pytest.raises(UsageError, match="is missing") as caught:
            parse_tests([{"type": "project", **{name: value for name, value in GIVEN.items() if name != key}}])
        assert caught.value.field == f"tests[0].{key}"

    @pytest.mark.parametrize(
        ("files", "ini"),
        [
            ({}, OWN_INI),
            ({"pytest.ini": "", "setup.cfg": "[tool:pytest]"}, "pytest.ini"),
            ({"setup.cfg": "[metadata]", "tox.ini": "[pytest]"}, "tox.ini"),
            ({"pyproject.toml": "[project]"}, OWN_INI),
            ({"pyproject.toml": "[tool.pytest.ini_options]"}, "pyproject.toml"),
            ({"tests/pytest.ini": ""}, OWN_INI),
        ],
    )
    def test_the_callers_configuration(self, files: dict[str, str], ini: str) -> None:
        assert parse(files={**FILES, **files}).ini == ini


def tree(*names: str) -> tuple[File, ...]:
    return tuple(File(name, b"theirs") for name in names)


class TestFiles:
    def test_what_configures_is_left_out(self) -> None:
        fine = tree("solution.py", "pkg/__init__.py", "pkg/pytest.ini", "data.cfg", "test_own.py")
        ours_to_give = tree(
            *("conftest.py", "pkg/conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "setup.cfg"),
            *("pyproject.toml", "sitecustomize.py", "lib/usercustomize.py", "a.pth", "b/a.pth", "solution.pyc"),
            *("__pycache__/solution.cpython-311.pyc", "tests/__pycache__/x", "evil.egg-info/entry_points.txt"),
            *("evil-1.dist-info/entry_points.txt", ".pytest_cache/v/cache/lastfailed"),
        )
        assert without_configuration(fine + ours_to_give) == fine

    def test_hidden_files_lie_over_the_programs(self) -> None:
        kept = ("solution.py", "tests/__init__.py", "tests/test_b.py", "tests/helper.py", "helpers/__init__.py")
        dropped = (
            *("tests", "tests/test_a.py", "tests/helpers.py/x", "tests/helpers/__init__.py", "tests/helpers/deep/x.py"),
            *("tests/helpers.so", "tests/test_a.cpython-311-x86_64-linux-gnu.so"),
        )
        task = task_for(parse(in_process=True), tree(*kept, *dropped), Limits())
        assert [file.name for file in task.files] == [*kept, *FILES]
        assert [file.content for file in task.files[-2:]] == [b"def test_one(): pass", b"\xff"]

    def test_no_jail_of_two_has_both(self) -> None:
        test = parse(modules=["core"])
        theirs, ours = pair_for(test, tree("core.py", "conftest.py", OWN_INI), Limits())
        assert [file.name for file in theirs.files] == ["core.py", "conftest.py"]
        assert ours.files == test.files
        assert b"test_one" not in theirs.request("/box")

    def test_what_is_shared_is_in_both(self) -> None:
        theirs, ours = pair_for(parse(shared=["tests/helpers.py"]), tree("core.py", "tests/helpers.py"), Limits())
        assert theirs.files == (*tree("core.py"), File("tests/helpers.py", b"\xff"))
        assert [file.name for file in ours.files] == list(FILES)

    def test_one_text_is_the_first_module(self) -> None:
        theirs, _ = pair_for(parse(modules=["core", "other"]), b"x = 1", Limits())
        assert theirs.files == (File("core.py", b"x = 1"),)

    def test_room(self) -> None:
        big = parse(files={**FILES, "data.bin": b"x" * (2 << 20)})
        check_program(b"", [big], Limits(disk_mb=3))
        with pytest.raises(UsageError, match="do not fit into disk_mb=1"):
            check_program(b"", [big], Limits(disk_mb=1))

    def test_files_are_for_project_tests(self) -> None:
        checked = program({"solution.py": "x = 1"})
        assert checked == (File("solution.py", b"x = 1"),)
        check_program(checked, [parse()], Limits())
        with pytest.raises(UsageError, match=r"code: is a project's files, but tests\[1\] is no project test"):
            check_program(checked, [parse(), *parse_tests(["assert x == 1"])], Limits())


NONE = ("", "", "")
ONE, TWO = (("a::one", "passed", NONE), ("a::two", "passed", NONE))


def judged(tests: Any = (ONE, TWO), broken: Any = (), code: Any = 0, **more: Any) -> tuple[Verdict, str]:
    test = ProjectTest((), ("a::one", "a::two"))
    return judge_report({"done": True, "tests": tests, "broken": broken, "exit": code, **more}, test, "its last words")


class TestReports:
    def test_all_passed(self) -> None:
        assert judged() == (Verdict.PASSED, "")
        assert judged(tests=(TWO, ONE)) == (Verdict.PASSED, "")

    @pytest.mark.parametrize(
        ("outcome", "error", "verdict", "reason"),
        [
            ("failed", ("AssertionError", "assert 0", ""), Verdict.WRONG_ANSWER, "failed: AssertionError: assert 0"),
            ("failed", ("Failed", "DID NOT RAISE", ""), Verdict.WRONG_ANSWER, "failed: Failed: DID NOT RAISE"),
            ("failed", ("KeyError", "'a'", "/box/a:3 in f"), Verdict.RUNTIME_ERROR, "failed: KeyError: 'a' at a:3 in f"),
            ("failed", NONE, Verdict.RUNTIME_ERROR, "failed"),
            ("skipped", ("Skipped", "no", ""), Verdict.RUNTIME_ERROR, "was skipped, or expected to fail: Skipped: no"),
            ("skipped", NONE, Verdict.RUNTIME_ERROR, "was skipped, or expected to fail"),
            ("twice", NONE, Verdict.RUNTIME_ERROR, "is there more than once"),
            ("unfinished", NONE, Verdict.RUNTIME_ERROR, "was not finished"),
            ("Passed", NONE, Verdict.RUNTIME_ERROR, "did not pass"),
            ("", NONE, Verdict.RUNTIME_ERROR, "did not pass"),
        ],
    )
    def test_one_that_has_not_passed(self, outcome: str, error: Any, verdict: Verdict, reason: str) -> None:
        assert judged(tests=(ONE, ("a::two", outcome, error))) == (verdict, f"a::two {reason}")

    def test_one_that_is_missing(self) -> None:
        assert judged(tests=(TWO,)) == (Verdict.RUNTIME_ERROR, "a::one was not run")
        assert judged(tests=(), code=4) == (
            Verdict.RUNTIME_ERROR,
            "a::one was not run; pytest ended with exit code 4: its last words",
        )

    @pytest.mark.parametrize(("kind", "verdict"), [("NameError", "runtime_error"), ("SyntaxError", "compile_error")])
    def test_what_is_broken_comes_first(self, kind: str, verdict: str) -> None:
        broken = (("a.py", (kind, "what", "")), ("b.py", NONE))
        assert judged(broken=broken) == (Verdict(verdict), f"a.py: {kind}: what")

    def test_a_runner_that_does_not_end_well(self) -> None:
        assert judged(code=1) == (Verdict.RUNTIME_ERROR, "pytest ended with exit code 1: its last words")

    def test_a_name_that_is_there_twice(self) -> None:
        assert judged(tests=(ONE, TWO, ONE))[0] is Verdict.RUNTIME_ERROR

    @pytest.mark.parametrize(
        "frame",
        [
            *({"tests": None}, {"tests": [ONE, TWO]}, {"tests": (ONE, ["a::two", "passed", NONE])}, {"tests": (ONE, None)}),
            *({"tests": (ONE, ("a::two", "passed"))}, {"tests": (ONE, ("a::two", True, NONE))}, {"tests": "passed"}),
            *({"tests": (ONE, ("a::two", "passed", ("", "", 1)))}, {"tests": (ONE, ("a::two", "passed", ""))}),
            *({"broken": None}, {"broken": ("a",)}, {"broken": (("a", "b"),)}),
            *({"code": None}, {"code": True}, {"code": 0.0}),
        ],
        ids=repr,
    )
    def test_what_cannot_be_read_has_not_passed(self, frame: Any) -> None:
        assert judged(**frame) == (Verdict.RUNTIME_ERROR, "the report cannot be read")
