"""Makes a read-only mount writable.

rows: F6
guards: seccomp=EPERM landlock=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("mount", None, b"/canary", None, 32 | 4096 | 2 | 4, None))
