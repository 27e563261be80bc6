"""The program in a model's answer.

The rule, which `extract=` of every call replaces by one's own:

1. What the model thought does not count, nor what stands in an unfinished thought (see `jailpy.fences`).
2. Where there are `<answer>` sections, blocks of the last one that has some go before those outside.
3. Blocks that name the language go before those that name none, these before those with an unknown word. Blocks of
   another language, of output or of data are never taken.
4. Of these the last one that can be a program: for Python one that defines a function or a class that is no test, or
   reads its input; where none does, one that defines anything. The last block is often an example of use, or a line
   that is explained again. Where none can, the last one. Blocks that are closed go before one that the end of the
   answer cut off. Blocks are never joined.
5. An answer without any fence is code as a whole: the text of its last `<answer>` section, or all of it.
6. Taken away are the indentation that all lines have, the fence's own indentation, blank lines at both ends, characters
   without width (BOM, zero-width space, word joiner) at the edges of lines, and CR before LF.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from jailpy.errors import UsageError
from jailpy.fences import Block, Part, scan
from jailpy.programs import Code
from jailpy.tags import language_of

#: None or False: the code is code. True: it is an answer, and the rule above says which part of it is the program. A
#: function: it says so, and gives "" or None where there is none; what it raises is the caller's own error.
Extract = bool | Callable[[str], str | None] | None

#: What a program of a language has, the surest sign first.
_SIGNS = {
    "python": (
        re.compile(
            r"^(?:async[ \t]+def|def|class)[ \t]+(?!_?[Tt]est)\w|^\w+[ \t]*=[ \t]*lambda\b"
            r"|\binput[ \t]*\(|=[ \t]*input\b|\bstdin\b|\bopen\(0|\bfileinput\b",
            re.MULTILINE,
        ),
        re.compile(r"^(?:async[ \t]+def|def|class)[ \t]", re.MULTILINE),
    ),
    "c": (re.compile(r"\bmain\s*\("),),
    "cpp": (re.compile(r"\bmain\s*\(|\bclass\s"),),
    "java": (re.compile(r"\bclass\s"),),
}


def extract_code(completion: str, *, language: str = "python") -> str:
    """The program in a model's answer by the rule of this module; "" where it holds none. Never raises for any text.

    language   what the program is written in, as in `grade`; fences may name it by any usual word
    """
    parts = scan(completion, language)
    for part in (*reversed(parts[1:]), parts[0]):
        block = _choose(part.blocks, language) or _choose(_inside_markdown(part, language), language)
        if block is not None:
            return block.code
    sections = [part.text for part in parts[1:] if part.text and not part.blocks]
    if sections:
        return sections[-1]
    return "" if any(part.blocks for part in parts) else parts[0].text


def program_of(code: Code, extract: Extract, language: str) -> Code | None:
    """The program of a job: its code as it is, or what `extract` takes from it; None where that finds none."""
    if extract is None or extract is False:
        return code
    if extract is not True and not callable(extract):
        raise UsageError("extract", f"a {type(extract).__name__} is no rule; give True or a function of the answer")
    if not isinstance(code, str):
        raise UsageError("code", f"{type(code).__name__} given; an answer to extract code from is a str")
    found = extract_code(code, language=language) if extract is True else extract(code)
    if found is not None and not isinstance(found, str):
        raise UsageError("extract", f"the function gave a {type(found).__name__}; it must give a str, or None")
    return found if found and found.strip() else None


def _choose(blocks: Sequence[Block], language: str) -> Block | None:
    for rank in range(3):
        chosen = [block for block in blocks if _rank(block, language) == rank and block.code]
        for sign in _SIGNS.get(language, ()):
            programs = [block for block in chosen if sign.search(block.code)]
            if programs:
                break
        else:
            programs = chosen
        if programs:
            return next((block for block in reversed(programs) if block.closed), programs[-1])
    return None


def _rank(block: Block, language: str) -> int | None:
    named = language_of(block.tag)
    if language in (named, block.tag):
        return 0
    if not block.tag:
        return 1
    return 2 if named is None else None


def _inside_markdown(part: Part, language: str) -> list[Block]:
    """Blocks of blocks: some models put their whole answer into a longer fence."""
    outer = [block for block in part.blocks if block.tag in ("markdown", "md")]
    return [block for inner in outer for block in scan(inner.code, language)[0].blocks]
