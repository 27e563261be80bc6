"""Reads the command line of every process in sight.

rows: P10
guards: pid_namespace=hidden
control: host
"""

from kit import attempt, secret_in_sight

attempt(lambda: "worked" if secret_in_sight("cmdline") else "hidden")
