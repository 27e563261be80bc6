"""Asks for a user namespace of its own; prints the errno, 0 where it got one."""

import ctypes

CLONE_NEWUSER = 0x10000000
libc = ctypes.CDLL(None, use_errno=True)
print(0 if libc.unshare(CLONE_NEWUSER) == 0 else ctypes.get_errno())
