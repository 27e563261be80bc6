"""Opens a file system by the newer calls, where a parser of the kernel reads what it is given.

rows: K16
guards: seccomp=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("fsopen", b"tmpfs", 0))
