"""Makes a device node of its own, for a device that its root leaves out.

rows: X4
guards: seccomp=EPERM landlock=EACCES capabilities=EPERM
works: worked
control: root
"""

from kit import attempt, make_node

attempt(lambda: make_node(0o20666, 1, 5))
