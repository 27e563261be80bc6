"""Makes a node for a disk.

rows: X4
guards: seccomp=EPERM landlock=EACCES capabilities=EPERM
control: root
"""

from kit import attempt, make_node

attempt(lambda: make_node(0o60666, 7, 0))
