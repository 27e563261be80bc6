"""Opens a file by a handle, past every root and mount.

rows: F5
guards: seccomp=EPERM capabilities=EPERM
control: root
"""

import ctypes
import os
import struct

from kit import attempt, call, given, outcome

path = os.path.join(given["shown"], "file").encode()
handle = ctypes.create_string_buffer(struct.pack("<Ii", 128, 0), 136)
where = ctypes.c_int(0)
if outcome(lambda: call("name_to_handle_at", -100, path, handle, ctypes.byref(where), 0)) != "worked":
    handle = ctypes.create_string_buffer(struct.pack("<Ii2I", 8, 1, 2, 0), 136)  # what ext4's root is called
base = os.open(given["shown"], os.O_RDONLY)
attempt(lambda: call("open_by_handle_at", base, handle, os.O_RDONLY))
