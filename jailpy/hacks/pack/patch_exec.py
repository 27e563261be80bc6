"""Replaces the built-in exec, with which the grader is about to execute the tests.

rows: G4 G6
fools: exec_in_child/equal no_failure_line/equal
"""

import builtins

builtins.exec = lambda *_: None


def add(a, b):
    return 0
