"""Changes what the kernel writes to the console.

rows: K17
guards: seccomp=EPERM user_namespace=EPERM
works: EINVAL
control: root
"""

from kit import attempt, call

attempt(lambda: call("syslog", 8, None, 99))
