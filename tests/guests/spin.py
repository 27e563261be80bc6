"""Uses CPU time for ever."""

while True:
    pass
