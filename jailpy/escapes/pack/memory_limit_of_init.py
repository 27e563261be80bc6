"""Gives process 1 a limit on CPU time, at which the kernel ends it and the jail.

rows: T1 R10
guards: seccomp=EPERM separate_uid=EPERM
"""

import struct

from kit import attempt, call, given

attempt(lambda: call("prlimit64", given["init"], 0, struct.pack("<2Q", 1000, 1000), None))
