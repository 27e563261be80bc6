"""Changes its interpreter for the next guest.

rows: H3
guards: no_process_twice=clean
control: none, only an interpreter that is used again would show it
runs: 2
"""

from kit import attempt


def look():
    import builtins

    found = hasattr(builtins, "left")
    builtins.left = True
    return "worked" if found else "clean"


attempt(look)
