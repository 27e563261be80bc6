"""Shows a folder at a second place, where other rules may hold.

rows: F6
guards: seccomp=EPERM landlock=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("mount", b"/canary", b"/tmp", None, 4096, None))
