"""Makes empty files until none fits, and dies of that."""

import itertools

for number in itertools.count():
    open(f"/tmp/{number}", "w").close()
