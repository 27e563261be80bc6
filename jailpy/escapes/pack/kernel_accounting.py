"""Has the kernel write a line to a file for every process that ends.

rows: K17
guards: seccomp=EPERM user_namespace=EPERM|ENOSYS
works: ENOENT|ENOSYS
control: root
"""

from kit import attempt, call

attempt(lambda: call("acct", b"/no-such-file"))
