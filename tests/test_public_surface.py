"""What the top level offers: complete, sorted, typed, and quick to import."""

import ast
import inspect

import pytest

import utmost
from running import python


def test_the_list_of_names_is_sorted_and_without_repetition():
    assert list(utmost.__all__) == sorted(set(utmost.__all__))


@pytest.mark.parametrize("name", utmost.__all__)
def test_every_name_is_there_and_documented(name):
    found = getattr(utmost, name)
    assert name in dir(utmost)
    if callable(found) or inspect.ismodule(found):
        assert inspect.getdoc(found)


def test_checkers_see_the_names_that_are_loaded_later():
    """The imports under TYPE_CHECKING are those of the table, name by name and room by room."""
    tree = ast.parse(inspect.getsource(utmost))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert seen == utmost._ROOM


def test_release_is_the_function_and_not_its_room():
    code = "import utmost.release, utmost; assert callable(utmost.release), utmost.release"
    python("-c", code)


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="no attribute 'optimum'"):
        getattr(utmost, "optimum")  # noqa: B009


def test_importing_loads_no_optional_package_and_no_room_that_a_release_does_not_need():
    code = (
        "import sys, utmost; print(*(m for m in ('scipy', 'pandas', 'polars', 'pyarrow', 'narwhals',"
        " 'numba', 'matplotlib', 'typer', 'rich', 'hypothesis',"
        " 'utmost.design', 'utmost.geometry') if m in sys.modules))"
    )
    assert python("-c", code).stdout.split() == []
