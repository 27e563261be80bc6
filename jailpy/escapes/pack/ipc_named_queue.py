"""Makes a queue with a name, of kernel memory.

rows: I1
guards: seccomp=EPERM rlimits=EMFILE landlock=EACCES
"""

import os

from kit import attempt, call

attempt(lambda: call("mq_open", b"jailpy", os.O_CREAT | os.O_RDWR, 0o600, None))
