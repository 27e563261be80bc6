"""Looks for a secret of the host in its environment.

rows: P1
guards: environment=hidden
control: host
"""

import os

from kit import attempt, given

attempt(lambda: "worked" if given["secret"] in os.environ.values() else "hidden")
