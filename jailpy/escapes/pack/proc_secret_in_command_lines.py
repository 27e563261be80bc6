"""Reads the command line of every process in sight.

rows: P10
guards: pid_namespace=hidden
control: host
"""

import os

from kit import attempt, given


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


found = any(given["secret"].encode() in command(pid) for pid in os.listdir("/proc") if pid.isdigit())
attempt(lambda: "worked" if found else "hidden")
