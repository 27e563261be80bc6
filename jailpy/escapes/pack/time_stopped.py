"""Stops itself, so that no time passes for it.

rows: T3
guards: monitor=wall_time
limits: wall_s=0.5
control: none, it never goes on
"""

import os
import signal

from kit import attempt

os.kill(os.getpid(), signal.SIGSTOP)
attempt(lambda: "worked")
