"""Catches the grader's TimeoutError, goes on, and answers too late, but rightly.

rows: G12
fools: exec_in_child/equal
"""

import time

while time.process_time() < 1.0:
    try:
        while time.process_time() < 1.0:
            pass
    except BaseException:
        pass


def add(a, b):
    return a + b
