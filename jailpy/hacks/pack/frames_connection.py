"""Walks up the stack to the connection over which the grader reports, and reports first.

rows: G7 R7
fools: call_in_process/call exec_in_child/equal stdio_in_process/stdio
"""

import sys


def report():
    frame = sys._getframe(1)
    while frame is not None:
        connection = frame.f_locals.get("report")
        if hasattr(connection, "send"):
            connection.send(["passed"] if "result" in frame.f_locals else "passed")
        frame = frame.f_back


report()


def add(a, b):
    return 0
