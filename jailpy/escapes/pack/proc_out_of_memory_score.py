"""Makes the kernel end every other process first.

rows: P11 M1
guards: proc=EROFS landlock=EACCES capabilities=EACCES
control: none, in a container root may not do it either
"""

import os

from kit import attempt

attempt(lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000"))
