"""Sends itself the signal of the CPU limit.

rows: R9
guards: monitor=SIGXCPU
control: none, a supervisor that goes by the signal is fooled
"""

import os
import signal

import kit  # noqa: F401  # takes the name that is looked for outside

signal.signal(signal.SIGXCPU, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGXCPU)
