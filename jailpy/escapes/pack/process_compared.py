"""Compares its kernel objects with those of process 1, which tells where they lie.

rows: T1
guards: seccomp=EPERM separate_uid=EPERM
works: worked|ENOSYS
control: host
"""

import os

from kit import attempt, call, given

attempt(lambda: call("kcmp", os.getpid(), given["init"], 1, 0, 0))
