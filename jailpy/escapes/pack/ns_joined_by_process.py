"""Joins the namespaces of process 1.

rows: N3
guards: seccomp=EPERM capabilities=EPERM
control: none, process 1 hides itself from the root of its namespaces, too
"""

import os

from kit import attempt, call, in_child

init = os.pidfd_open(1)
attempt(lambda: in_child(lambda: call("setns", init, 0x04000000)))
