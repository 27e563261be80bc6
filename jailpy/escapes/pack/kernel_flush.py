"""Has every disk of the machine written out, which stalls whoever else writes.

rows: S3
guards: seccomp=EPERM
"""

from kit import attempt, call

attempt(lambda: call("sync"))
