"""Takes the timer away with which the grader limits its time, and answers too late, but rightly.

rows: G4
fools: exec_in_child/equal
"""

import signal
import time

signal.setitimer(signal.ITIMER_PROF, 0)
while time.process_time() < 1.0:
    pass


def add(a, b):
    return a + b
