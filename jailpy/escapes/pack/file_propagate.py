"""Makes its mounts shared, so that they show elsewhere.

rows: F6
guards: seccomp=EPERM landlock=EPERM capabilities=EPERM
"""

from kit import attempt, call

attempt(lambda: call("mount", None, b"/tmp", None, 1 << 20, None))
