"""Reads the environment of process 1.

rows: P1
guards: proc=ENOENT|EACCES
control: host
"""

from kit import attempt, given

attempt(lambda: open(f"/proc/{given['init']}/environ").close())
