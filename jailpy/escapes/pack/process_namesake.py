"""Takes the name of the helper and of the kernel's threads.

rows: T4
guards: monitor=done
control: none, a name is of no use to anybody here
"""

from kit import attempt, libc

libc.prctl(15, b"jailpy-init", 0, 0, 0)
attempt(lambda: "done")
