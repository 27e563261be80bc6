"""Replaces TestCase.run by a method that reports success without running anything.

rows: G4 G6
fools: exec_in_child/unittest unittest_project/equal
"""

import unittest


def run(self, result=None):
    result.startTest(self)
    result.addSuccess(self)
    result.stopTest(self)
    return result


unittest.TestCase.run = run


def add(a, b):
    return 0
