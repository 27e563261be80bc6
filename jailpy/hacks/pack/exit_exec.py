"""Becomes another program, one that always succeeds.

rows: G1 R9
fools: exit_status/equal shell_or/equal
"""

import os

os.execv("/bin/true", ["true"])
