"""Where the function that is tested has the name of a built-in, defines another such name that the test uses.

rows: G4
fools: exec_in_child/builtin_name exit_status/builtin_name
"""


def sum(numbers):
    return 0


def abs(number):
    return 0
