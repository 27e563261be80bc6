"""The words with which fences name languages."""

from __future__ import annotations

import re

_WORDS = {
    "python": "python py python2 python3 py2 py3 ipython pypy pypy3 cpython sage",
    "c": "c h gcc",
    "cpp": "cpp c++ cc cxx hpp h++ g++",
    "csharp": "csharp c# cs",
    "go": "go golang",
    "java": "java",
    "javascript": "javascript js node nodejs mjs cjs jsx",
    "typescript": "typescript ts tsx",
    "kotlin": "kotlin kt kts",
    "rust": "rust rs",
    "ruby": "ruby rb",
    "php": "php",
    "swift": "swift",
    "scala": "scala",
    "perl": "perl pl",
    "lua": "lua",
    "r": "r rscript",
    "haskell": "haskell hs",
    "julia": "julia jl",
    "d": "d dlang",
    "racket": "racket rkt",
    "ocaml": "ocaml ml",
    "elixir": "elixir ex exs",
    "dart": "dart",
    "pascal": "pascal pas",
    "fortran": "fortran f90",
    "sql": "sql mysql postgresql sqlite",
    "bash": "bash sh shell zsh shell-session",
    "lean": "lean lean4",
    # What is no program, or none that an answer could be meant to be.
    "": "text txt plaintext plain output console terminal pycon doctest traceback stdin stdout input log json jsonl yaml "
    "toml ini xml html css svg csv diff patch markdown md mermaid latex tex math dockerfile makefile cmake powershell",
}
_LANGUAGES = {word: language for language, words in _WORDS.items() for word in words.split()}

_TAG = re.compile(r"[{. \t]*(?:language-|lang=)?([A-Za-z][A-Za-z0-9_+#-]*)?")
_STATEMENT = re.compile(
    r"(?:import|from|def|class|async|for|while|if|try|with|assert)\b[ \t]*[\w(:\"'*]"
    r"|@\w|#include|[A-Za-z_][\w.]*(?:\(|[ \t]*,[ \t]*\w+[ \t]*=|[ \t]+[-+*/]?=[ \t])"
)


def language_of(tag: str) -> str | None:
    """The language that a word names, in any version of it; "" for what is no program, None for an unknown word."""
    found = _LANGUAGES.get(tag)
    return _LANGUAGES.get(tag.rstrip("0123456789")) if found is None else found


def parse_info(info: str, *, whole: bool = False) -> tuple[str, str]:
    """What stands behind a fence, as the tag in lower case and the code that stands there too; attributes are dropped.

    whole   all that follows a known tag is code
    """
    match = _TAG.match(info)
    assert match  # it matches the empty text too
    tag, behind = (match[1] or "").lower(), info[match.end() :]
    if language_of(tag) is not None and not behind.lstrip().startswith(("(", "=")):
        rest = behind.strip()
        return tag, rest if whole or _STATEMENT.match(rest) else ""
    if whole or _STATEMENT.match(info):
        return "", info
    return tag, ""


def reads_like_code(text: str) -> bool:
    """Whether the first line that is not blank reads like a statement or a comment."""
    first = text.lstrip().partition("\n")[0]
    return first.startswith("#!") or _STATEMENT.match(first.lstrip("# \t")) is not None
