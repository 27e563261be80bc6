"""A profile function waits until the grader compares, reads the expected value there, and changes the result to it.

rows: G7 G9
fools: call_in_process/call
"""

import sys


class Result:
    value = 0

    def __eq__(self, other):
        return self.value == other


result = Result()


def watch(frame, event, argument):
    if event == "call" and "expected" in frame.f_locals and "output" in frame.f_locals:
        result.value = frame.f_locals["expected"]


def add(a, b):
    sys.setprofile(watch)
    return result
