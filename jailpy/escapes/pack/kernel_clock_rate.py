"""Reaches the call that changes the speed of the machine's clock.

rows: K17
guards: seccomp=EPERM
"""

import ctypes

from kit import attempt, call

attempt(lambda: call("adjtimex", ctypes.create_string_buffer(256)))
