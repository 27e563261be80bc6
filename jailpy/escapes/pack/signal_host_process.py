"""Signals a process of the host by its number there.

rows: T2
guards: pid_namespace=ESRCH
control: host
"""

import os
import signal

from kit import attempt, given

attempt(lambda: os.kill(given["pid"], signal.SIGCONT))
