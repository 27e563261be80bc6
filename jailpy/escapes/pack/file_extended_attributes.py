"""Reaches for extended attributes, which store data beside every quota.

rows: F12
guards: seccomp=EOPNOTSUPP
works: ENODATA|EOPNOTSUPP
control: none, file systems without them answer the same
"""

import ctypes

from kit import attempt, call

value = ctypes.create_string_buffer(64)
attempt(lambda: call("getxattr", b"/canary/file", b"security.capability", value, 64))
