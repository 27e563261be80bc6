"""Has the memory of process 1 paged out.

rows: T1
guards: seccomp=EPERM
works: EFAULT|EINVAL|EPERM|worked
control: none, the call needs rights over the other process in any case
"""

import os
import struct

from kit import attempt, call, given

init = os.pidfd_open(given["init"])
attempt(lambda: call("process_madvise", init, struct.pack("<QQ", 4096, 4096), 1, 21, 0))
