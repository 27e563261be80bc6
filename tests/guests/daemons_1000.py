"""Leaves 1,000 daemons behind: twice forked, each in a session of its own, all signals that can be ignored ignored."""

import os
import signal
import sys

COUNT = 1000

ready, tell = os.pipe()
if os.fork() == 0:
    for _ in range(COUNT):
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.write(tell, b"x")
            while True:
                signal.pause()
    os._exit(0)
os.wait()
seen = 0
while seen < COUNT:
    seen += len(os.read(ready, COUNT))
print(seen, "daemons")
sys.stdout.flush()
