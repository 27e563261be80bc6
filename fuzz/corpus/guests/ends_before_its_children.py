# Was given a CPU time limit that it had not met: what its confinement took counted once its own end was known, and its
# children kept the jail open long enough for a look at that.
import os

for _ in range(5):
    os.fork()
print("end")
