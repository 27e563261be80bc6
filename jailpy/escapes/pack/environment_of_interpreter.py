"""Looks in its own memory for the host's environment, which a forked interpreter might have kept.

rows: H7 P1
guards: environment=hidden
control: host
"""

from kit import attempt, given


def holds():
    wanted = given["secret"].encode()
    with open("/proc/self/environ", "rb") as file:
        return wanted in file.read()


attempt(lambda: "worked" if holds() else "hidden")
