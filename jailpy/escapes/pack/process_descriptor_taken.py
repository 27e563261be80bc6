"""Takes an open file out of process 1.

rows: D5
guards: seccomp=EPERM separate_uid=EPERM
control: host
"""

import os

from kit import attempt, call, given

init = os.pidfd_open(given["init"])
attempt(lambda: call("pidfd_getfd", init, 0, 0))
