"""Calls pytest.skip from the function: a skipped test is no failure in the report.

rows: G2
fools: pytest_project/equal
"""


def add(a, b):
    import pytest

    pytest.skip("not today")
