"""Runs before every other process of the machine.

rows: T5
guards: seccomp=EPERM user_namespace=EPERM
control: root
"""

import struct

from kit import attempt, call

attempt(lambda: call("sched_setscheduler", 0, 2, struct.pack("i", 1)))
