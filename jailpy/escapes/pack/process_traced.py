"""Takes hold of process 1 as its debugger.

rows: T1
guards: seccomp=EPERM separate_uid=EPERM
control: host
"""

from kit import attempt, call, given

attempt(lambda: call("ptrace", 0x4206, given["init"], 0, 0))
