"""Takes the attribute "read-only" off a mount.

rows: F6 K16
guards: seccomp=EPERM capabilities=EPERM
works: worked|EPERM
control: none, the kernel may also have locked the attribute
"""

import struct

from kit import attempt, call

attributes = struct.pack("<4Q", 0, 1, 0, 0)
attempt(lambda: call("mount_setattr", -100, b"/canary", 0, attributes, len(attributes)))
