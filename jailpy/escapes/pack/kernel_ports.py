"""Takes the machine's input and output ports.

rows: K17
guards: seccomp=EPERM user_namespace=EPERM|ENOSYS
works: worked|ENOSYS
control: root
machine: x86_64
"""

from kit import attempt, call

attempt(lambda: call("iopl", 3))
