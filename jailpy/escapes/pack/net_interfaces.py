"""Looks for an interface that leads out.

rows: W1
guards: network_namespace=hidden
control: none, not every host has one
"""

from kit import attempt

with open("/proc/self/net/dev") as file:
    names = {line.partition(":")[0].strip() for line in file if ":" in line}
attempt(lambda: "hidden" if names <= {"lo"} else "worked")
