"""Takes a lease on a file, which stalls whoever opens it next.

rows: F13
guards: seccomp=ENOSYS
"""

import fcntl
import os

from kit import attempt, given

own = os.open(os.path.join(given["scratch"], "own"), os.O_RDONLY | os.O_CREAT)
attempt(lambda: fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_RDLCK))
