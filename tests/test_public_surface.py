"""What the top level offers: complete, sorted, typed, and quick to import."""

import ast
import inspect
import typing
from pathlib import Path

import pytest

import utmost
from running import python
from utmost import errors
from utmost.laws import exact, programs
from utmost.publish import counting


def test_the_list_of_names_is_sorted_and_without_repetition():
    assert list(utmost.__all__) == sorted(set(utmost.__all__))


@pytest.mark.parametrize("name", utmost.__all__)
def test_every_name_is_there_and_documented(name):
    found = getattr(utmost, name)
    assert name in dir(utmost)
    if callable(found) or inspect.ismodule(found):
        assert inspect.getdoc(found)


def test_the_stub_is_the_one_table_of_names():
    """What type checkers read is what the loader reads, and nothing stands beside it."""
    stub = ast.parse(Path(utmost.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    named = [alias.asname for line in stub.body if isinstance(line, ast.ImportFrom) for alias in line.names]
    assert sorted(named) == list(utmost.__all__) == dir(utmost)


def test_rooms_are_rooms_and_not_hidden_by_functions():
    python(
        "-c", "import utmost.publish.releases as r, utmost.laws.gradual as g, utmost; assert r.__path__ and g.__path__"
    )


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="no attribute 'optimum'"):
        getattr(utmost, "optimum")  # noqa: B009


def test_importing_loads_no_optional_package_and_no_room_that_a_release_does_not_need():
    code = (
        "import sys, utmost; print(*(m for m in ('scipy', 'pandas', 'polars', 'pyarrow', 'narwhals',"
        " 'numba', 'matplotlib', 'typer', 'rich', 'hypothesis',"
        " 'utmost.design.optima', 'utmost.design.geometry', 'utmost.doors') if m in sys.modules))"
    )
    assert python("-c", code).stdout.split() == []


def test_every_type_that_a_public_function_returns_can_be_imported_from_a_room():
    """Whoever annotates a result finds its class in the list of a room."""
    named = [getattr(utmost, name) for name in utmost.__all__]
    rooms = [utmost, counting, exact, programs, *(room for room in named if hasattr(room, "__all__"))]
    public = [getattr(room, name) for room in rooms for name in room.__all__]
    listed = {value for value in [*public, *vars(errors).values()] if inspect.isclass(value)}
    functions = [value for value in public if inspect.isfunction(value)]
    for kind in listed:
        functions += [part for name, part in inspect.getmembers(kind, inspect.isroutine) if not name.startswith("_")]
    returned = {kind for function in functions for kind in _classes(_returned(function))}
    assert len(returned) > 60
    assert {kind for kind in returned if kind.__module__.startswith("utmost")} - listed == set()


def _returned(function):
    try:
        return typing.get_type_hints(inspect.unwrap(function)).get("return")
    except (NameError, TypeError):  # built-in, or annotated for type checkers alone
        return None


def _classes(kind):
    return {kind} if inspect.isclass(kind) else set().union(*map(_classes, typing.get_args(kind)))
