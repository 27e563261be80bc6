"""Counts events, with the kernel's included.

rows: K8
guards: seccomp=EPERM user_namespace=EACCES
control: root
"""

import struct

from kit import attempt, call

event = bytearray(112)
struct.pack_into("<2IQ", event, 0, 1, 112, 1)
attempt(lambda: call("perf_event_open", bytes(event), 0, -1, -1, 0))
