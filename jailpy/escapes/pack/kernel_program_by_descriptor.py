"""Starts a program by a descriptor, where no path is looked at.

rows: D8 K20
guards: seccomp=ENOSYS
works: ENOENT
"""

from kit import attempt, call

attempt(lambda: call("execveat", -100, b"/no-such-program", None, None, 0))
