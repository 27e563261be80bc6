"""Makes 100 orphans one after the other, each of which ends at once: more than the limit, never many at a time."""

import os
import time

for number in range(100):
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.waitpid(middle, 0)
    time.sleep(0.005)
print("made", number + 1)
