"""Reads where its cgroup lies, which tells the host's layout.

rows: P7 N8
guards: cgroup_namespace=hidden
needs: cgroup
"""

from kit import attempt

with open("/proc/self/cgroup") as file:
    line = next((line for line in file if line.startswith("0::")), "0::/\n")
attempt(lambda: "hidden" if line == "0::/\n" else "worked")
