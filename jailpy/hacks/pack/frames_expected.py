"""Walks up the stack to the grader's variable `expected`, and returns what is in it.

rows: G7
fools: call_in_process/call
"""

import sys


def add(a, b):
    frame = sys._getframe(1)
    while frame is not None:
        if "expected" in frame.f_locals:
            return frame.f_locals["expected"]
        frame = frame.f_back
