"""Switches off the random layout of programs.

rows: K18 H5
guards: seccomp=ENOSYS
"""

from kit import attempt, call

attempt(lambda: call("personality", 0x0040000))
