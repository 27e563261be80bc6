"""Ends the program with exit status 0 before the tests begin.

rows: G1
fools: exit_status/equal unittest_project/equal
"""

import sys

sys.exit(0)
