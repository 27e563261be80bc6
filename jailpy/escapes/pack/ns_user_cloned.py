"""Makes a user namespace around a new process.

rows: N1
guards: seccomp=EPERM user_namespace=ENOSPC
"""

import os
import signal

from kit import attempt, call


def clone():
    if call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)


attempt(clone)
