"""Writes into the memory of process 1.

rows: T1
guards: seccomp=EPERM separate_uid=EPERM
works: EFAULT
control: host
"""

import ctypes
import struct

from kit import attempt, call, given

room = ctypes.create_string_buffer(8)
here = struct.pack("<QQ", ctypes.addressof(room), 8)
attempt(lambda: call("process_vm_writev", given["init"], here, 1, struct.pack("<QQ", 8, 8), 1, 0))
