"""Catches the grader's TimeoutError, goes on, and answers too late, but rightly.

rows: G12
fools: exec_in_child/equal
"""

import time


def add(a, b):
    until = time.process_time() + 1.5
    while time.process_time() < until:
        try:
            while time.process_time() < until:
                pass
        except BaseException:
            pass
    return a + b
