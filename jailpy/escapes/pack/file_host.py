"""Opens a file of the host by its path.

rows: F1
guards: root=ENOENT
control: host
"""

from kit import attempt, given

attempt(lambda: open(given["hidden"]).close())
