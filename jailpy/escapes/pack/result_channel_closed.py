"""Closes everything by which its maker could hear of its end.

rows: R10 D4
guards: monitor=exit_3
control: none, a maker that waits for a word hangs
"""

import os

import kit  # noqa: F401  # takes the name that is looked for outside

os.closerange(0, 64)
os._exit(3)
