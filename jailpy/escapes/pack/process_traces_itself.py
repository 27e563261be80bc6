"""Asks to be debugged, by which a program can steer its children past checks.

rows: T1
guards: seccomp=EPERM
"""

from kit import attempt, call, in_child

attempt(lambda: in_child(lambda: call("ptrace", 0, 0, 0, 0)))
