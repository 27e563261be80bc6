"""Its main process ends; a daemon keeps stdout and stderr open and would write later."""

import os
import time

if os.fork() == 0:
    os.setsid()
    time.sleep(60)
    os.write(1, b"late\n")
    os._exit(0)
print("main is done")
