"""Sends itself the signal of a CPU limit."""

import os
import signal

os.kill(os.getpid(), signal.SIGXCPU)
