"""Becomes user 0.

rows: N7
guards: seccomp=EPERM capabilities=EPERM|EINVAL
"""

from kit import attempt, call

attempt(lambda: call("setuid", 0))
