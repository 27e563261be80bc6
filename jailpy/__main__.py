"""`python -m jailpy`."""

import sys

from jailpy.cli import main

if __name__ == "__main__":
    sys.exit(main())
