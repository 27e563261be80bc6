"""Uses CPU time for ever, a little at a time, in children that it waits for."""

import os

while True:
    pid = os.fork()
    if pid == 0:
        for _ in range(200_000):
            pass
        os._exit(0)
    os.waitpid(pid, 0)
