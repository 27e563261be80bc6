"""Takes a range of the machine's ports.

rows: K17
guards: seccomp=EPERM user_namespace=EPERM|ENOSYS
works: worked|ENOSYS
control: root
machine: x86_64
"""

from kit import attempt, call

attempt(lambda: call("ioperm", 0x80, 1, 1))
