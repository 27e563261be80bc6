"""Adds a file to the machine's swap.

rows: K17 M6
guards: seccomp=EPERM user_namespace=EPERM|ENOSYS
works: ENOENT|ENOSYS
control: root
"""

from kit import attempt, call

attempt(lambda: call("swapon", b"/no-such-file", 0))
