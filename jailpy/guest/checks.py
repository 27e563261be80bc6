"""What of the test code's checks an exception would skip, if a context manager of the program's swallowed it.

A `with` statement of the test code may enter an object of the program's, and what that returns from __exit__ is then the
program's word on an exception of the test code's. That is heard only where no check is lost by it. Python 3.9 and
later, standard library only.
"""

from __future__ import annotations

import ast
from typing import Any


class Checks:
    """The `with` statements of some test code, and where in each the last check ends."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.functions: set[str] = set()  # of the test code, that check something
        self.withs: list[tuple[str, int, int, int]] | None = None

    def _look(self) -> list[tuple[str, int, int, int]]:
        trees = {name: ast.parse(text) for name, text in self.texts.items()}
        for tree in trees.values():
            for node in ast.walk(tree):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and self._end(node.body):
                    self.functions.add(node.name)
        return [
            (name, node.lineno, node.body[0].lineno, self._end(node.body))
            for name, tree in trees.items()
            for node in ast.walk(tree)
            if isinstance(node, (ast.With, ast.AsyncWith))
        ]

    def would_be_lost(self, caller: Any, error: Any, traceback: Any) -> bool:
        """Whether to swallow the error in the caller's `with` statement skips a check, or hides one that failed."""
        if isinstance(error, AssertionError) and not hasattr(error, "_jailpy_text"):
            return True
        self.withs = self._look() if self.withs is None else self.withs
        name, entered = caller.f_code.co_filename, caller.f_lineno
        mine = [each for each in self.withs if each[0] == name and each[1] <= entered <= each[2]]
        at = traceback.tb_lineno if traceback is not None else 0
        # Where some other context manager is the caller, it is not known which statement ends here.
        asked = [max(mine, key=lambda each: each[1])] if mine else self.withs
        return any(at <= end for _, _, _, end in asked)

    def _end(self, body: list[ast.stmt]) -> int:
        """The line where the last check ends; for one in a loop, where the loop does. 0 where there is none."""
        ends = [0]
        nodes: list[Any] = [node for statement in body for node in ast.walk(statement)]
        for node in nodes:
            inside = ast.walk(node) if isinstance(node, (ast.For, ast.AsyncFor, ast.While)) else [node]
            if any(map(self._is_check, inside)):
                ends.append(node.end_lineno)
        return max(ends)

    def _is_check(self, node: Any) -> bool:
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Raise):
            return any(isinstance(part, ast.Name) and part.id == "AssertionError" for part in ast.walk(node))
        if not isinstance(node, ast.Call):
            return False
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return name.startswith("assert") or name == "fail" or name in self.functions
