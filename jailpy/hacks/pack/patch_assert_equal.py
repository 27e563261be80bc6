"""Replaces TestCase.assertEqual by a method that asserts nothing.

rows: G4
fools: exec_in_child/unittest exit_status/unittest
"""

import unittest

unittest.TestCase.assertEqual = lambda *_: None


def add(a, b):
    return 0
