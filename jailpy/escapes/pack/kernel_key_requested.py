"""Asks for a key, for which the kernel starts a program of the host.

rows: K13
guards: seccomp=ENOSYS
works: ENOKEY
"""

from kit import attempt, call

attempt(lambda: call("request_key", b"user", b"no-such-key", None, -2))
