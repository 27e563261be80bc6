"""A trace function moves the next line to be executed behind the tests.

rows: G9
fools: exit_status/equal
"""

import sys


def add(a, b):
    return 0


def skip(frame, event, argument):
    if event == "line":
        last = max(line for _, _, line in frame.f_code.co_lines() if line)
        frame.f_lineno = last
        sys.settrace(None)
    return skip


sys.settrace(skip)
sys._getframe().f_trace = skip
