"""Ends with the code by which shells tell of a killed program.

rows: R9
guards: monitor=exit_137
control: none, shells tell the two apart no better
"""

import os

import kit  # noqa: F401  # takes the name that is looked for outside

os._exit(137)
