"""Raises unittest.SkipTest from the function: the test is skipped, and nothing has failed.

rows: G2
fools: exec_in_child/unittest unittest_project/equal
"""

import unittest


def add(a, b):
    raise unittest.SkipTest("not today")
