"""What `import jailpy` gives is what it says it gives."""

from __future__ import annotations

import inspect
import pickle

import pytest

import jailpy
from jailpy import errors


def test_all_is_sorted_as_linters_sort_it() -> None:
    constants = [name for name in jailpy.__all__ if name.isupper()]
    classes = [name for name in jailpy.__all__ if name[0].isupper() and not name.isupper()]
    functions = [name for name in jailpy.__all__ if name[0].islower()]
    assert jailpy.__all__ == sorted(constants) + sorted(classes) + sorted(functions)


def test_all_is_complete() -> None:
    public = {name for name, it in vars(jailpy).items() if not name.startswith("_") and not inspect.ismodule(it)}
    assert set(jailpy.__all__) == public


def test_every_error_is_public() -> None:
    defined = {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
    assert defined <= set(jailpy.__all__)


def test_every_call_of_a_jail_is_a_function_too() -> None:
    of_a_jail = {name for name in vars(jailpy.Jail) if not name.startswith("_")}
    functions = {name for name, value in vars(jailpy).items() if inspect.isfunction(value)}
    assert functions - {"extract_code"} <= of_a_jail
    assert of_a_jail - functions <= {"close", "statistics", "session"}


@pytest.mark.parametrize("name", jailpy.__all__)
def test_everything_public_is_explained(name: str) -> None:
    value = getattr(jailpy, name)
    assert not callable(value) or (value.__doc__ and value.__doc__.strip())


@pytest.mark.parametrize(
    "error",
    [
        jailpy.JailpyError("text"),
        jailpy.UsageError("field", "problem"),
        jailpy.InfrastructureError("text"),
        jailpy.LayerMissing("cgroup", "why", "fix"),
        jailpy.SetupError("mounts", 3, 28, "hint"),
        jailpy.HelperLost("text"),
        jailpy.CheckerError("text"),
        jailpy.Overloaded("text"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_cross_processes(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_the_tree_of_errors() -> None:
    assert issubclass(jailpy.UsageError, ValueError)
    assert not issubclass(jailpy.UsageError, jailpy.InfrastructureError)
    for error in (jailpy.LayerMissing, jailpy.SetupError, jailpy.HelperLost, jailpy.CheckerError, jailpy.Overloaded):
        assert issubclass(error, jailpy.InfrastructureError)
