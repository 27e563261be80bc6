"""Opens its own interpreter for writing.

rows: P2
guards: root=EROFS|EACCES|ETXTBSY
control: none, on the host it would harm it
"""

import os

from kit import attempt

attempt(lambda: os.open("/proc/self/exe", os.O_WRONLY))
