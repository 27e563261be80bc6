"""The program in a model's answer: a table of answers, and properties of every text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jailpy import UsageError, extract_code, fences
from jailpy.extract import program_of
from jailpy.tags import language_of, parse_info, reads_like_code

P = "print(6)\n"
DEF = "def f(x):\n    return x + 1\n"

FENCES = {
    "tag": ("Text.\n```python\nprint(6)\n```\nMore.", P),
    "short tag": ("```py\nprint(6)\n```", P),
    "tag of a version": ("```python3\nprint(6)\n```", P),
    "tag of a point version": ("```python3.11\nprint(6)\n```", P),
    "tag in capitals": ("```Python\nprint(6)\n```", P),
    "blank before the tag": ("``` python\nprint(6)\n```", P),
    "no tag": ("```\nprint(6)\n```", P),
    "unknown tag": ("```solution\nprint(6)\n```", P),
    "attributes": ('```python title="main.py" linenums=1\nprint(6)\n```', P),
    "attributes in braces": ("```{.python .numberLines}\nprint(6)\n```", P),
    "file name": ("```python:main.py\nprint(6)\n```", P),
    "tildes": ("~~~python\nprint(6)\n~~~", P),
    "tildes around backticks": ("~~~python\n# ```\nprint(6)\n~~~", "# ```\n" + P),
    "longer fence": ("`````python\nprint(6)\n`````", P),
    "longer closing fence": ("```python\nprint(6)\n`````", P),
    "four backticks around three": ("````python\ns = '''\n```\n'''\n````", "s = '''\n```\n'''\n"),
    "indented": ("   ```python\n   print(6)\n   ```", P),
    "in a list": ("1. So:\n\n   ```python\n   def f(x):\n       return x + 1\n   ```\n2. Done", DEF),
    "in a list, with text at the margin": (
        "  ```python\n  s = '''\na\n'''\n  print(s)\n  ```",
        "s = '''\na\n'''\nprint(s)\n",
    ),
    "on the line of its list marker": ("- ```python\n  print(6)\n  ```", P),
    "on the line of a number": ("10. ```python\n    print(6)\n    ```", P),
    "behind words": ("Here it is: ```python\nprint(6)\n```", P),
    "behind words, without a tag": ("Here it is: ```\nprint(6)\n```", P),
    "code on the fence's line": ("```python print(6)\n```", P),
    "code in the tag's place": ("```print(6)\n```", P),
    "code in front of the closing fence": ("```python\nprint(6)```\nMore.", P),
    "on one line": ("```python print(6)```", P),
    "on one line, without a tag": ("```print(6)```", P),
    "unclosed": ("```python\nprint(6)", P),
    "unclosed, then again": ("```python\ndraft(\n\nNo, rather:\n```python\nprint(6)\n```", P),
    "nothing in it": ("```python\n```", ""),
    "blank lines at both ends": ("```python\n\n \nprint(6)\n\n\n```", P),
    "common indentation": ("```python\n    if 1:\n        print(6)\n```", "if 1:\n    print(6)\n"),
    "tabs": ("```python\n\tif 1:\n\t\tprint(6)\n```", "if 1:\n\tprint(6)\n"),
    "CRLF": ("```python\r\nif 1:\r\n    print(6)\r\n```\r\n", "if 1:\n    print(6)\n"),
    "BOM": ("\ufeff```python\n\ufeffprint(6)\n```", P),
    "zero width at the edges of lines": ("```python\u200b\n\u200bprint(6)\u2060\n\u200b```", P),
    "zero width in a string": ("```python\ns = 'a\u200bb'\n```", "s = 'a\u200bb'\n"),
    "form feed is no end of a line": ("```python\na = 1\x0cb\n```", "a = 1\x0cb\n"),
    "inline code is no fence": ("Use `x` and ``y``.\n```python\nprint(6)\n```", P),
    "fence in a string": ('```python\ns = """\n```\nx\n```\n"""\n```\nMore.', 's = """\n```\nx\n```\n"""\n'),
    "fence with a tag in a string": (
        "```python\ns = '''# Use\n```python\nf(1)\n```\n'''\nprint(s)\n```",
        "s = '''# Use\n```python\nf(1)\n```\n'''\nprint(s)\n",
    ),
    "quotation marks in a comment": ("```python\nx = 1  # '''\n```\n'''\n```", "x = 1  # '''\n"),
    "quotation marks in a string": ("```python\nx = \"'''\"\n```\n'''\n```", "x = \"'''\"\n"),
    "escaped quotation marks": ("```python\nx = '''\\'''\n```\n'''\n```", "x = '''\\'''\n```\n'''\n"),
    "string that is never closed": ("```python\nx = '''\n```\nMore.", "x = '''\n"),
    "answer in a fence of Markdown": ("````markdown\n# A\n```python\nprint(6)\n```\n````", P),
    "answer in an equal fence of Markdown": ("```markdown\n# A\n```python\nprint(6)\n```\n```", P),
    "begun in the prompt": (DEF + "```\nIt adds one.", DEF),
    "begun in the prompt, then an example": (DEF + "```\nUse:\n```python\nprint(f(1))\n```", DEF),
}

CHOICE = {
    "the last of two programs": ("```python\ndef f(x):\n    return x\n```\nBetter:\n```python\n" + DEF + "```", DEF),
    "not the example of use": ("```python\n" + DEF + "```\nExample:\n```python\nprint(f(1))\n```", DEF),
    "not the tests": ("```python\n" + DEF + "```\n```python\ndef test_f():\n    assert f(1) == 2\n```", DEF),
    "not the class of tests": ("```python\n" + DEF + "```\n```python\nclass TestF(TestCase):\n    pass\n```", DEF),
    "not the explained line": (
        "```python\nn = input()\nprint(n)\n```\nwhere\n```python\nprint(n)\n```",
        "n = input()\nprint(n)\n",
    ),
    "not the closed half of a long program": (
        "```python\nx = 1\n```\n```python\ndef f(x):\n    ret",
        "def f(x):\n    ret\n",
    ),
    "not what the end cut off": ("```python\n" + DEF + "```\nFaster:\n```python\ndef f(x):\n    ret", DEF),
    "the last where none is a program": ("```python\nprint(5)\n```\n```python\nprint(6)\n```", P),
    "not joined": ("```python\nimport os\n```\n```python\nprint(6)\n```", P),
    "an example of a function that is named as a test": (
        "```python\ndef test(x):\n    return x\n```\n```python\nprint(test(1))\n```",
        "def test(x):\n    return x\n",
    ),
    "a program whose function is named as a test": (
        "```python\ndef test(x):\n    return x\n```",
        "def test(x):\n    return x\n",
    ),
    "not another language": ("```bash\npip install x\n```\n```python\nprint(6)\n```\n```text\n6\n```", P),
    "not output without a tag": ("```python\nprint(6)\n```\nprints\n```\n6\n```", P),
    "no tag before an unknown one": ("```\nprint(6)\n```\n```file\nprint(5)\n```", P),
    "only other languages": ("```cpp\nint main() {}\n```\n```json\n{}\n```", ""),
    "other languages and text": ("Sure.\n```cpp\nint main() {}\n```", ""),
}

THOUGHT = {
    "thinking": ("<think>\n```python\nbad\n```\n</think>\n```python\nprint(6)\n```", P),
    "thinking by another name": ("<thinking>\n```python\nbad\n```\n</thinking>\n```python\nprint(6)\n```", P),
    "thinking in capitals": ("<THINK>bad</THINK>\n```python\nprint(6)\n```", P),
    "thinking in brackets": ("[THINK]\n```python\nbad\n```\n[/THINK]```python\nprint(6)\n```", P),
    "begun in the prompt": ("So:\n```python\nbad\n```\nyes.</think>\n```python\nprint(6)\n```", P),
    "a heading that is no tag": ("[Reasoning]\nIt is 6.\n```python\nprint(6)\n```", P),
    "thinking in triangles": ("\u25c1think\u25b7\n```python\nbad\n```\n\u25c1/think\u25b7\n```python\nprint(6)\n```", P),
    "nothing but thinking": ("<think>\n```python\nprint(6)\n```\n</think>\nThat was all.", "That was all.\n"),
    "unclosed": ("<think>\n```python\nprint(6)\n```\n", ""),
    "unclosed at the end": ("```python\nprint(6)\n```\n<think>\n```python\nbad\n```", P),
    "unclosed fence in it": ("<think>\n```python\nbad\n</think>\n```python\nprint(6)\n```", P),
    "unclosed fence in one begun in the prompt": ("So:\n```python\nbad\n</think>\nIt is\n```python\nprint(6)\n```", P),
    "several": ("<think>a</think>b<think>\n```python\nbad\n```\n</think>\n```python\nprint(6)\n```", P),
    "on the line of the fence": ("<think>short</think>```python\nprint(6)\n```", P),
    "no fence behind it": ("<think>x</think>\nprint(6)", P),
    "the tag in quotes": ("Print `<think>` first:\n```python\nprint(6)\n```\nand `</think>` last.", P),
    "the tag in a program": ("```python\nprint('<think>a</think>')\n```", "print('<think>a</think>')\n"),
    "the tag alone in a program's string": (
        "<think>a</think>\n```python\ns = '''\n<think>\n</think>\n'''\n```",
        "s = '''\n<think>\n</think>\n'''\n",
    ),
    "answer": ("<think>x</think><answer>\n```python\nprint(6)\n```\n</answer>", P),
    "answer without a fence": ("<answer>print(6)</answer>", P),
    "answer on lines of its own": ("<think>x</think>\n<answer>\nprint(6)\n</answer>\nDone.", P),
    "answer before what is outside": ("```python\ndef f(): 5\n```\n<answer>\n```python\nprint(6)\n```\n</answer>", P),
    "answer that refers to what is outside": ("```python\nprint(6)\n```\n<answer>See above.</answer>", P),
    "the last answer": ("<answer>print(5)</answer>\n<answer>print(6)</answer>", P),
    "answer that closes on the fence's line": ("<answer>```python\nprint(6)\n```</answer>\nDone.", P),
    "answer with a fence that does not close": ("<answer>\n```python\nprint(6)\n</answer>", P),
}

UNFENCED = {
    "code": (DEF, DEF),
    "code with CRLF and BOM": ("\ufeffa = 1\r\nprint(a)\r\n", "a = 1\nprint(a)\n"),
    "indented code": ("  a = 1\n  print(a)", "a = 1\nprint(a)\n"),
    "words": ("I cannot do this.", "I cannot do this.\n"),
    "nothing": ("", ""),
    "blanks": (" \n\t\r\n\u200b\n", ""),
}

TABLE = [
    pytest.param(answer, code, id=f"{name}: {case}")
    for name, table in (("fence", FENCES), ("choice", CHOICE), ("thought", THOUGHT), ("unfenced", UNFENCED))
    for case, (answer, code) in table.items()
]


@pytest.mark.parametrize(("answer", "code"), TABLE)
def test_python(answer: str, code: str) -> None:
    assert extract_code(answer) == code


@pytest.mark.parametrize(
    ("language", "answer", "code"),
    [
        ("cpp", "Here you go:\n```c++\n#include <cstdio>\nint main() {}\n```\n", "#include <cstdio>\nint main() {}\n"),
        ("cpp", "```c++17\nint main() {}\n```\n```cpp\nf();\n```", "int main() {}\n"),
        ("c", "```cpp\nint main() {}\n```\n```c\nint main(void) {}\n```\n```C++\n1\n```", "int main(void) {}\n"),
        ("csharp", "```c#\nclass A {}\n```", "class A {}\n"),
        ("javascript", "```js\nf(`'''`)\n```\n", "f(`'''`)\n"),
        ("rust", "```rs\nfn main() {}\n```\n```rust\nfn main() { 1; }\n```", "fn main() { 1; }\n"),
        ("brainfuck", "```brainfuck\n+.\n```\n```python\n1\n```", "+.\n"),
    ],
)
def test_other_languages(language: str, answer: str, code: str) -> None:
    assert extract_code(answer, language=language) == code


# Pieces of which answers are made, and of which answers are made that no one would write.
pieces = st.sampled_from(
    [
        *("```", "````", "~~~", "`", "python", "cpp", "\n", "\n\n", " ", "    ", "- ", "1. ", "'''", '"""', "'", "\\"),
        *("#", "x = 1", "<think>", "</think>", "<answer>", "</answer>", "[/THINK]", "\r\n", "\ufeff", "\u200b"),
        *("def f(x):", "words", "\udc80"),
    ]
)
answers = st.lists(pieces, max_size=60).map("".join) | st.text(max_size=200)


@settings(max_examples=400, deadline=None)
@given(answers, st.sampled_from(["python", "cpp", "nothing"]))
def test_every_text_gives_a_text_made_of_its_lines(answer: str, language: str) -> None:
    code = extract_code(answer, language=language)
    assert code == "" or (code.endswith("\n") and code.strip())
    assert set(code) <= set(answer) | {"\n"}
    assert len(code) <= len(answer) + 1


#: Valid or not, no line of these can be a fence, a tag or a triple quotation mark.
programs = st.lists(st.sampled_from([*DEF.splitlines(), "a = 'b' # c", "", "    # `x`", 's = "~~"']), min_size=1).map(
    lambda lines: fences.tidy(["def g(): 1", *lines])
)


@settings(max_examples=200, deadline=None)
@given(programs, st.sampled_from(["```", "````", "~~~"]), st.sampled_from(["", "python", "py3 a=1"]), st.integers(0, 9))
def test_a_fenced_program_comes_back(program: str, fence: str, info: str, indent: int) -> None:
    lines = [fence + info, *program.splitlines(), fence]
    fenced = "\n".join(" " * indent + line for line in lines)
    for answer in (
        fenced,
        f"So.\n\n{fenced}\n\nDone.",
        f"<think>{fenced}\n</think>\n{fenced}",
        fenced.replace("\n", "\r\n"),
    ):
        assert extract_code(answer) == program
    assert extract_code(program) == program


class Counted(list[str]):
    """Lines that count how often they are read."""

    reads = 0

    def __getitem__(self, at: Any) -> Any:
        self.reads += len(range(*at.indices(len(self)))) if isinstance(at, slice) else 1
        return super().__getitem__(at)


hostile_lines = st.sampled_from(
    [
        "```",
        "```python",
        "`" * 9,
        "x```",
        "~~~",
        "'''",
        "\\'''",
        '"""',
        "<think>",
        "</think>",
        "<answer>",
        "</answer>",
        "- ```",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(hostile_lines, min_size=1, max_size=6))
def test_the_work_grows_with_the_text_alone(some: list[str]) -> None:
    lines = Counted(some * 200)
    fences._Scan(lines, "python").run()
    assert lines.reads <= 40 * len(lines)


def test_fences_that_get_shorter_are_not_searched_for_again_and_again() -> None:
    lines = Counted([text for size in range(200, 3, -1) for text in ("`" * size, "x" + "`" * size)])
    fences._Scan(lines, "python").run()
    assert lines.reads <= 40 * len(lines)


def test_info() -> None:
    assert parse_info("") == ("", "")
    assert parse_info("Python") == ("python", "")
    assert parse_info("language-python") == ("python", "")
    assert parse_info("r") == ("r", "")
    assert parse_info("r = 5") == ("", "r = 5")
    assert parse_info("input()") == ("", "input()")
    assert parse_info("python import os") == ("python", "import os")
    assert parse_info("python main.py") == ("python", "")
    assert language_of("c++17") == "cpp"
    assert language_of("output") == ""
    assert language_of("fooscript") is None
    assert reads_like_code("#!/usr/bin/python\n")
    assert reads_like_code("\n  # import os\n")
    assert not reads_like_code("The code:\n")


def test_the_rule_of_a_call() -> None:
    answer = "```python\nprint(6)\n```"
    assert program_of(answer, None, "python") == answer
    assert program_of(b"\xff", False, "python") == b"\xff"
    assert program_of(answer, True, "python") == P
    assert program_of(answer, str.upper, "python") == answer.upper()
    assert program_of("<think>", True, "python") is None
    assert program_of(answer, lambda _: None, "python") is None
    assert program_of(answer, lambda _: " \n", "python") is None


@pytest.mark.parametrize(
    ("code", "extract", "field"),
    [("x", "last", "extract"), ("x", 1, "extract"), (b"x", True, "code"), (b"x", str, "code"), ("x", len, "extract")],
)
def test_wrong_uses(code: Any, extract: Any, field: str) -> None:
    with pytest.raises(UsageError) as caught:
        program_of(code, extract, "python")
    assert caught.value.field == field


def test_what_the_callers_function_raises_is_the_callers() -> None:
    with pytest.raises(ZeroDivisionError):
        program_of("x", lambda _: str(1 // 0), "python")
