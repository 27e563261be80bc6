"""Attaches shared memory of the host.

rows: I1
guards: seccomp=EPERM ipc_namespace=ENOENT
"""

from kit import attempt, call, given

attempt(lambda: call("shmget", given["key"], 0, 0))
