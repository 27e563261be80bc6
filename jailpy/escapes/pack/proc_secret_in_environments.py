"""Reads the environment of every process in sight, for a secret that the host's have.

rows: P1 P10
guards: pid_namespace=hidden
control: host
"""

import os

from kit import attempt, given


def environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


found = any(given["secret"].encode() in environment(pid) for pid in os.listdir("/proc") if pid.isdigit())
attempt(lambda: "worked" if found else "hidden")
