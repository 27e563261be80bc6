"""Reads the environment of every process in sight, for a secret that the host's have.

rows: P1 P10
guards: pid_namespace=hidden
control: host
"""

from kit import attempt, secret_in_sight

attempt(lambda: "worked" if secret_in_sight("environ") else "hidden")
