"""What the top level offers: complete, sorted, typed, and quick to import."""

import ast
import csv
import inspect
import re
import typing
from functools import reduce
from pathlib import Path

import pytest

import utmost
from running import python

ROOT = Path(__file__).parents[1]


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
    with pytest.raises(AttributeError, match=r"no attribute 'optimum'$"):
        getattr(utmost, "optimum")  # noqa: B009


MOVED = list(csv.DictReader((ROOT / "docs/decisions/0046-names.csv").read_text(encoding="utf-8").splitlines()))


def test_a_name_that_left_a_list_is_there_still():
    """Each is reached by its room, or by its file."""
    assert all(_value(row["new"]) is not None for row in MOVED)


@pytest.mark.parametrize("row", MOVED[::24], ids=lambda row: row["old"])
def test_a_name_that_left_a_list_is_where_the_error_says(row):
    room, _, name = row["old"].rpartition(".")
    with pytest.raises(AttributeError, match=re.escape(f"no attribute {name!r}; it is ")) as refused:
        getattr(_value(room), name)
    assert row["new"] in str(refused.value)


def _value(path):
    return reduce(getattr, path.split(".")[1:], utmost)


def test_importing_loads_no_optional_package_and_no_room_that_a_release_does_not_need():
    code = (
        "import sys, utmost; print(*(m for m in ('scipy', 'pandas', 'polars', 'pyarrow', 'narwhals',"
        " 'numba', 'matplotlib', 'click', 'hypothesis',"
        " 'utmost.design.optima', 'utmost.design.geometry', 'utmost.doors') if m in sys.modules))"
    )
    assert python("-c", code).stdout.split() == []


def test_every_type_that_a_public_function_returns_can_be_imported_by_a_public_path():
    """Whoever annotates a result finds its class in the list of a room or, where no page makes one, in its file."""
    rooms = [utmost] + [
        getattr(wing, name)
        for wing in (utmost.laws, utmost.design, utmost.publish, utmost.doors)
        for name in wing.__all__
    ]
    public = [getattr(room, name) for room in rooms for name in getattr(room, "__all__", ())]
    functions = [value for value in public if inspect.isfunction(value)]
    for kind in filter(inspect.isclass, public):
        functions += [part for name, part in inspect.getmembers(kind, inspect.isroutine) if not name.startswith("_")]
    returned = {kind for function in functions for kind in _classes(_returned(function))}
    own = {kind for kind in returned if kind.__module__.startswith("utmost")}
    assert len(own) > 60
    for kind in own:
        path = f"{kind.__module__}.{kind.__qualname__}"
        assert not any(part.startswith("_") for part in path.split(".")), path
        assert _value(path) is kind, path


def _returned(function):
    try:
        return typing.get_type_hints(inspect.unwrap(function)).get("return")
    except (NameError, TypeError):  # built-in, or annotated for type checkers alone
        return None


def _classes(kind):
    return {kind} if inspect.isclass(kind) else set().union(*map(_classes, typing.get_args(kind)))
