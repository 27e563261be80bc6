"""Reads the name by which one host can be told from another.

rows: I7
guards: uts_namespace=hidden
control: host
"""

import os

from kit import attempt

attempt(lambda: "hidden" if os.uname().nodename == "jail" else "worked")
