"""Reads what the kernel tells of the machine, its symbols and its memory.

rows: P6
guards: proc=ENOENT
"""

import os

from kit import attempt_any

names = ("meminfo", "kallsyms", "kcore", "keys", "timer_list", "modules", "cmdline", "version", "interrupts", "iomem")
attempt_any(lambda name=name: os.stat(f"/proc/{name}") for name in names)
