"""Opens switches of the kernel for writing.

rows: P4
guards: proc=ENOENT landlock=EACCES user_namespace=EACCES
control: root
"""

import os

from kit import attempt_any

names = ("vm/drop_caches", "kernel/panic", "vm/overcommit_memory", "fs/file-max")
attempt_any(lambda name=name: os.close(os.open(f"/proc/sys/{name}", os.O_WRONLY)) for name in names)
