"""Removes a module.

rows: K17
guards: seccomp=EPERM
works: ENOENT|ENOSYS
control: root
"""

import os

from kit import attempt, call

attempt(lambda: call("delete_module", b"no_such_module", os.O_NONBLOCK))
