"""Kills process 1, and with it all that could report.

rows: T2 N6 R10
guards: landlock_scopes=EPERM separate_uid=EPERM pid_namespace=worked
control: none, the kernel lets process 1 ignore it
"""

import os
import signal

from kit import attempt

attempt(lambda: os.kill(1, signal.SIGKILL))
