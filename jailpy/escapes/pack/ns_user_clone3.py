"""Makes a user namespace by the call whose flags no filter can see.

rows: N1 N2
guards: seccomp=ENOSYS user_namespace=ENOSPC
"""

import os
import signal
import struct

from kit import attempt, call


def clone():
    arguments = struct.pack("<8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    if call("clone3", arguments, len(arguments)) == 0:
        os._exit(0)


attempt(clone)
