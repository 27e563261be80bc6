"""Changes a limit of process 1.

rows: T1 M4
guards: separate_uid=EPERM landlock=EPERM|worked
control: none, it is not jailpy that gives one process rights over another's limits
"""

import struct

from kit import attempt, call

attempt(lambda: call("prlimit64", 1, 7, struct.pack("<2Q", 64, 64), None))
