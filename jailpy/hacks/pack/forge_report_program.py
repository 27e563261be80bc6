"""Becomes a program that prints the report of a success.

rows: O8 R7
fools: report_line/equal
"""

import os

os.execv("/bin/echo", ["echo", "RESULT 1 of 1"])
