"""Walks up the stack to the grader's list of results, and puts its own in front.

rows: G6 G7
fools: exec_in_child/equal
"""

import sys


def add(a, b):
    frame = sys._getframe(1)
    while frame is not None:
        if isinstance(frame.f_locals.get("result"), list):
            frame.f_locals["result"].append("passed")
        frame = frame.f_back
    return 0
