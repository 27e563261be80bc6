"""Takes the machine's swap away.

rows: K17 M6
guards: seccomp=EPERM user_namespace=EPERM|ENOSYS
works: ENOENT|ENOSYS
control: root
"""

from kit import attempt, call

attempt(lambda: call("swapoff", b"/no-such-file"))
