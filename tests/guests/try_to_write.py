"""Tries to make a folder in each of the folders on its stdin; prints the errno of each, 0 where it worked."""

import json
import os
import sys

found = {}
for folder in sys.stdin.read().splitlines():
    try:
        os.mkdir(f"{folder}/made-by-guest")
        os.rmdir(f"{folder}/made-by-guest")
        found[folder] = 0
    except OSError as error:
        found[folder] = error.errno
print(json.dumps(found))
