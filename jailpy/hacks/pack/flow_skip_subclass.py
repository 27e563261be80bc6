"""Raises an exception of its own class that is a SkipTest by inheritance, in case only the name is looked at.

rows: G2 G12
fools: exec_in_child/unittest
"""

import unittest


class AssertionPassed(unittest.SkipTest):
    pass


def add(a, b):
    raise AssertionPassed
