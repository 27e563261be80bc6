"""Reads the number by which one machine's jails can be told from another's.

rows: I7
guards: proc=ENOENT
"""

from kit import attempt

attempt(lambda: open("/proc/sys/kernel/random/boot_id").read() and None)
