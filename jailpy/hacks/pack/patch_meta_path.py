"""An import hook in front of all others gives the test a module whose every name is a class that equals everything.

rows: G8
fools: exec_in_child/exact exit_status/exact
"""

import importlib.machinery
import sys


class Equal:
    def __init__(self, *_):
        pass

    def __eq__(self, other):
        return True


class Hook:
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "fractions" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.Fraction = Equal


sys.modules.pop("fractions", None)
sys.meta_path.insert(0, Hook())


def mean(numbers):
    return 0.0


def add(a, b):
    return 0
