"""Replaces the grader's own comparing function in its module.

rows: G6
fools: call_in_process/call
"""

import sys

main = sys.modules["__main__"]
if hasattr(main, "same"):
    main.same = lambda *_: True


def add(a, b):
    return 0
