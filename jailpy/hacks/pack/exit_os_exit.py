"""Ends the process at once, past every handler: no exception is there to be caught.

rows: G1 G12 R9
fools: exit_status/equal no_failure_line/equal unittest_project/equal
"""

import os

os._exit(0)
