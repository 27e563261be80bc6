"""Looks for a proxy in the environment, and for one that listens by default.

rows: W5 W6
guards: environment=hidden
control: none, not every host has one
"""

import os

from kit import attempt

named = [name for name in os.environ if name.lower().endswith("_proxy")]
attempt(lambda: "worked" if named else "hidden")
