"""Makes timers without end, which are counted per user of the host.

rows: T7 C11
guards: rlimits=EAGAIN
"""

import ctypes

from kit import attempt, checked, libc

number = ctypes.c_int()


def make():
    for _ in range(2000):
        checked(libc.timer_create(0, None, ctypes.byref(number)))


attempt(make)
