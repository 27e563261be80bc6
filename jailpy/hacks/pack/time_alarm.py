"""Takes the alarm away with which the grader limits its time, and answers too late, but rightly.

rows: G4 O6
fools: exec_in_child/equal
"""

import signal
import time

signal.setitimer(signal.ITIMER_REAL, 0)


def spin():
    until = time.process_time() + 1.5
    while time.process_time() < until:
        pass


def add(a, b):
    spin()
    return a + b
