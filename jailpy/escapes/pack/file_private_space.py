"""Writes into the file system behind its private folders, beside them.

rows: F1 S1
guards: landlock=EACCES separate_uid=EACCES
control: none, a host has no such place
"""

import os

from kit import attempt

attempt(lambda: os.mkdir("/.private/planted"))
