"""Adds a key, the first step of several attacks on the page cache.

rows: K3 K13 I4
guards: seccomp=ENOSYS
"""

from kit import attempt, call

attempt(lambda: call("add_key", b"user", b"jailpy", b"x", 1, -2))
