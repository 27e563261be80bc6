"""A model's answer as fenced blocks and the text around them. Pure, in linear time, whatever the text is.

A block begins with three or more backticks or tildes, at any indentation, behind a list marker, or behind words that
lead to it (`Here it is: ```python`). It ends with a line of as many or more of the same character, or, unclosed, before
the next fence that names a language, or with the text. In Python a fence inside a triple-quoted string is part of the
string. Where no line closes a block, a fence at the end of a line of code does. A first fence that names nothing, behind
text that reads like code, ends a block that begins with the text: its beginning is in the prompt.

Left out is what the model thinks: `<think>` at the start of a line to `</think>`, and everything in front of a
`</think>` without a beginning, which then is in the prompt. A section that is not ended takes the rest of the text. Tags
in quotation marks or backticks, and tags inside blocks, are text; but while no thinking has ended yet, a closing tag
alone on its line ends it from within a block too, and so does `</answer>` with a section.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from jailpy.tags import language_of, parse_info, reads_like_code

#: Characters without width that models and web pages leave at the edges of lines, where no language takes them.
_WIDTHLESS = "\u200b\u2060\ufeff"
_BLANK = " \t"
_LIST_MARKER = re.compile(r"[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?")
_TAG = re.compile(
    r"</?(?:answer|(?:seed:)?(?:think|thinking|thought|reasoning))>|\[/?THINK\]|\u25c1/?think\u25b7",
    re.IGNORECASE,
)
_QUOTES = ("`", "'", '"', "\\")
_STRINGS = re.compile(r'\\.|"""|\'\'\'|["\'#]', re.DOTALL)
#: How often the search for the end of a block may run over text that is then read again.
_TRIES = 16


@dataclass(frozen=True, slots=True)
class Block:
    """What a fence holds, without its indentation. `tag` is the language that it names in lower case, or ""."""

    tag: str
    code: str
    closed: bool


@dataclass(slots=True)
class Part:
    """The answer, or one `<answer>` section of it: its blocks, and its lines outside of them."""

    blocks: list[Block] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return tidy(self.lines)


def scan(answer: str, language: str) -> list[Part]:
    """The parts of an answer: first all that is in no `<answer>` section, then those sections, in their order.
    `language` is that of blocks which name none."""
    return _Scan(_split(answer), language).run()


def tidy(lines: list[str]) -> str:
    """Lines as code: without the indentation that all have, without blank lines at both ends, with a last newline."""
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    if first == last:
        return ""
    kept = lines[first:last]
    margin = kept[0][: len(kept[0]) - len(kept[0].lstrip(_BLANK))]
    for line in kept:
        while margin and line.strip() and not line.startswith(margin):
            margin = margin[: _same(margin, line)]
    return "\n".join([line[len(margin) :] if line.startswith(margin) else line.lstrip(_BLANK) for line in kept]) + "\n"


def _same(left: str, right: str) -> int:
    return next((at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), len(right))


def _split(answer: str) -> list[str]:
    lines = answer.replace("\r\n", "\n").split("\n")
    return [_clean_edges(line) for line in lines] if any(char in answer for char in _WIDTHLESS) else lines


def _clean_edges(line: str) -> str:
    body = line.strip(_BLANK + _WIDTHLESS)
    start = line.find(body) if body else len(line)
    edges = line[:start], line[start + len(body) :]
    for char in _WIDTHLESS:
        edges = edges[0].replace(char, ""), edges[1].replace(char, "")
    return edges[0] + body + edges[1]


def _ends(tag: re.Match[str]) -> bool:
    return tag[0][1] == "/"


def _of_answer(tag: re.Match[str]) -> bool:
    return "answer" in tag[0].lower()


@dataclass(frozen=True, slots=True)
class _Fence:
    """How a block begins: its fence, how far its lines are indented, its language, and code on the fence's own line."""

    mark: str
    indent: int
    tag: str
    code: str

    def closed_by(self, line: str) -> bool:
        """Also with the tag behind it that ends the section of the block."""
        bare = line.strip()
        behind = bare.lstrip(self.mark[0])
        return bare.startswith(self.mark) and (not behind or (behind[-1] == ">" and not _TAG.sub("", behind).strip()))

    def cut_by(self, line: str) -> bool:
        bare = line.lstrip(_BLANK)
        info = bare.lstrip(self.mark[0]).strip()
        return bare.startswith(self.mark) and language_of(parse_info(info)[0]) is not None and self.mark[0] not in info


def _opening(line: str) -> _Fence | None:
    marker = _LIST_MARKER.match(line)
    indent = marker.end() if marker else 0
    if line.startswith("~~~", indent):
        at = indent
    else:
        at = line.find("```")
        if at < 0:
            return None
    end = at
    while end < len(line) and line[end] == line[at]:
        end += 1
    info = line[end:].strip()
    leads = line[:at].rstrip(_BLANK)
    if at != indent and (not (info or leads.endswith(":")) or len(info.split()) > 1):
        return None
    if line[at] in info:
        return None
    tag, code = parse_info(info)
    return _Fence(line[at:end], indent if at == indent else 0, tag, code)


def _one_line(line: str) -> Block | None:
    """A block that begins and ends on one line."""
    body = line.strip()
    mark = body[: len(body) - len(body.lstrip("`"))]
    inner = body[len(mark) : -len(mark)] if len(mark) >= 3 else ""
    if not inner.strip() or not body.endswith(mark) or "`" in inner:
        return None
    tag, code = parse_info(inner.strip(), whole=True)
    return Block(tag, code + "\n", closed=True)


class _Scan:
    """One pass over the lines of an answer."""

    def __init__(self, lines: list[str], language: str) -> None:
        self.lines = lines
        self.language = language
        self.at = 0
        self.parts = [Part()]
        self.in_answer = False
        self.thinking = False
        self.thought = False
        self.tries = _TRIES

    def run(self) -> list[Part]:
        while self.at < len(self.lines):
            line = self._without_tags(self.lines[self.at])
            self.at += 1
            if line is None:
                continue
            block = _one_line(line)
            fence = None if block else _opening(line)
            if fence:
                block = self._begun_in_prompt(fence) or self._block(fence)
            if block:
                self._part().blocks.append(block)
            else:
                self._part().lines.append(line)
        return self.parts

    def _part(self) -> Part:
        return self.parts[-1] if self.in_answer else self.parts[0]

    def _begun_in_prompt(self, fence: _Fence) -> Block | None:
        part = self._part()
        if fence.tag or fence.code or part.blocks or not reads_like_code(part.text):
            return None
        block = Block(self.language, part.text, closed=True)
        part.lines = []
        return block

    def _without_tags(self, line: str) -> str | None:
        """What of a line outside of blocks is the answer's; None when all of it is thought. Follows its tags."""
        kept = None if self.thinking else 0
        pieces: list[str] = []
        for tag in _TAG.finditer(line):
            start, end = tag.span()
            if self.thinking:
                if _ends(tag) and not _of_answer(tag):
                    self.thinking, self.thought, kept = False, True, end
                continue
            quoted = line[end : end + 1] in _QUOTES and not line.startswith("```", end)
            if quoted or line[start - 1 : start] in _QUOTES:
                continue
            assert kept is not None
            before = line[kept:start]
            if _of_answer(tag):
                pieces.append(before)
                self._part().lines.append("".join(pieces))
                pieces, kept = [], end
                self._turn(begins=not _ends(tag))
            elif _ends(tag):
                self.parts, self.in_answer, self.thought = [Part()], False, True
                pieces, kept = [], end
            elif not before.strip() and not "".join(pieces).strip():
                self.thinking, kept = True, None
        if kept is not None:
            pieces.append(line[kept:])
        return "".join(pieces) if pieces else None

    def _turn(self, *, begins: bool) -> None:
        self.in_answer = begins
        if begins:
            self.parts.append(Part())

    def _block(self, fence: _Fence) -> Block:
        start = self.at
        end, closed = self._end(fence)
        if not closed and (glued := self._glued(fence, end)) is not None:
            body = [*self.lines[start:glued], self.lines[glued].rstrip().removesuffix(fence.mark)]
            self.at, closed = glued + 1, True
        else:
            body = self.lines[start:end]
            self.at = end
            if closed:
                self.lines[end] = self.lines[end].strip().lstrip(fence.mark[0])
                self.at += not self.lines[end]
        body = [_outdent(line, fence.indent) for line in body]
        return Block(fence.tag, tidy([fence.code, *body]), closed)

    def _end(self, fence: _Fence) -> tuple[int, bool]:
        """The line that ends the block, and whether it is a fence that closes it."""
        named = language_of(fence.tag)
        python = (self.language if named is None else named) == "python"
        if python and self.tries and (found := self._search(fence, strings=True)):
            return found
        return self._search(fence, strings=False) or (len(self.lines), False)

    def _search(self, fence: _Fence, *, strings: bool) -> tuple[int, bool] | None:
        quote = _quote_after(fence.code, "") if strings else ""
        for at in range(self.at, len(self.lines)):
            line = self.lines[at]
            if not quote and fence.closed_by(line):
                return at, True
            if self._ends_thinking(line) or (not quote and (fence.cut_by(line) or self._ends_answer(line))):
                return at, False
            if strings:
                quote = _quote_after(line, quote)
        self.tries -= 1 if self.tries else 0
        return None

    def _ends_thinking(self, line: str) -> bool:
        if self.thought or "/" not in line:
            return False
        tag = _TAG.fullmatch(line.strip())
        return tag is not None and _ends(tag) and not _of_answer(tag)

    def _ends_answer(self, line: str) -> bool:
        return self.in_answer and line.strip().lower() == "</answer>"

    def _glued(self, fence: _Fence, end: int) -> int | None:
        """The first line before `end` that has the closing fence behind its code."""
        if not self.tries:
            return None
        self.tries -= 1
        return next((at for at in range(self.at, end) if self.lines[at].rstrip().endswith(fence.mark)), None)


def _outdent(line: str, width: int) -> str:
    """Without as much indentation as the fence has."""
    while width and line[:1] in (" ", "\t"):
        line, width = line[1:], width - 1
    return line


def _quote_after(line: str, quote: str) -> str:
    """The triple quotation mark that is open at the end of a line of Python, or "", when `quote` was open before it."""
    single = ""
    for token in _STRINGS.finditer(line):
        mark = token[0]
        if quote:
            quote = "" if mark == quote else quote
        elif single:
            # Two of three marks side by side may be the end of one string and the begin of the next.
            single = "" if mark[0] == single and mark[0] != "\\" else single
        elif mark == "#":
            break
        elif len(mark) == 3:
            quote = mark
        elif mark[0] != "\\":
            single = mark
    return quote
