"""What the top level offers: complete, sorted, typed, and quick to import."""

import inspect
import re
import sys
import types
import typing
from importlib import import_module
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


def public_modules():
    """All modules that `dir` shows, from the top."""
    found, waiting = {}, [utmost]
    while waiting:
        module = waiting.pop()
        if module.__name__ not in found:
            found[module.__name__] = module
            values = (getattr(module, name) for name in dir(module))
            waiting += [value for value in values if inspect.ismodule(value)]
    return found


def public_names():
    """Each public class, function, and method of a public class, by its name."""
    for name, module in public_modules().items():
        for one in getattr(module, "__all__", ()):
            value = getattr(module, one)
            if getattr(value, "__module__", "").partition(".")[0] == "utmost" and callable(value):
                yield f"{name}.{one}", value
                if inspect.isclass(value):
                    shown = {key: getattr(value, key) for key in dir(value) if not key.startswith("_")}
                    yield from (
                        (f"{name}.{one}.{key}", method)
                        for key, method in shown.items()
                        if callable(method) or isinstance(method, property)
                    )


def test_every_public_name_says_what_it_is():
    assert [name for name, value in public_names() if not inspect.getdoc(value)] == []


def test_a_list_of_arguments_is_complete():
    """Where a docstring lists arguments, it lists all of them."""
    missing = []
    for name, value in public_names():
        found = re.search(r"\nArgs:\n(.*?)(\n\n|$)", inspect.getdoc(value) or "", re.DOTALL)
        if found is None or isinstance(value, property):
            continue
        listed = {
            one.strip(" *")
            for line in re.findall(r"^    (\w[\w, *]*):", found[1], re.MULTILINE)
            for one in line.split(",")
        }
        missing += [f"{name}({one})" for one in inspect.signature(value).parameters if one not in {*listed, "self"}]
    assert missing == []


def test_every_module_shows_its_own_names_and_nothing_that_it_imports():
    """`ut.noise.<TAB>` showed RoomNames and TYPE_CHECKING, `ut.errors` Any, `ut.losses` Fraction."""
    modules = public_modules()
    assert {"utmost.errors", "utmost.noise", utmost.losses.__name__, "utmost.interop"} <= set(modules)
    for name, module in modules.items():
        shown = dir(module)
        assert shown == sorted(set(shown)), name
        for one in shown:
            value = getattr(module, one)
            home = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "utmost")
            is_listed = one in getattr(module, "__all__", ())  # types such as Array are numpy's own
            assert is_listed or home.partition(".")[0] == "utmost", (name, one)
            assert not one.startswith("_") or one == "__version__", (name, one)
        assert not {"RoomNames", "TYPE_CHECKING", "own_names", "Any", "Fraction"} & set(shown), name
        assert set(getattr(module, "__all__", shown)) == set(shown), name
    assert "optimal_noise" in dir(utmost.noise)
    assert "BadTable" in dir(utmost.errors)
    assert {"absolute", "capped", "nib"} <= set(dir(utmost.losses))


def public_callables():
    return {name: getattr(utmost, name) for name in utmost.__all__ if callable(getattr(utmost, name))}


@pytest.mark.parametrize("name", sorted(public_callables()))
def test_signatures_list_their_words(name):
    """A signature shows each argument, with its default, and no Ellipsis in its place."""
    signature = inspect.signature(public_callables()[name])
    assert "Ellipsis" not in str(signature)
    takes_any = [one for one in signature.parameters.values() if one.kind is one.VAR_KEYWORD]
    assert not takes_any or name == "Domain"


def test_the_table_of_names_is_what_type_checkers_read():
    """The names that the top imports for type checkers are those that it loads, from the same files."""
    top = Path(utmost.__file__).read_text(encoding="utf-8")
    for name, home in utmost._HOMES.items():
        module, _, attribute = home.partition(":")
        parent, stem = (module, attribute) if attribute else module.rsplit(".", 1)
        imported = f"    from {parent} import {stem} as {name}\n"
        assert imported in top, name


def test_public_modules_list_what_they_import():
    """A public module has nothing but imports of names from the files that define them, and lists these names."""
    for name in utmost._MODULES:
        module = getattr(utmost, name)
        if name != "errors":
            assert module.__all__ == sorted(module.__all__)
            assert dir(module) == module.__all__
            assert all(hasattr(module, one) for one in module.__all__)


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match=r"no attribute 'optimum'$"):
        getattr(utmost, "optimum")  # noqa: B009


def test_a_name_of_a_module_is_refused_by_the_way_to_it():
    code = """if True:
        import utmost as ut
        for name in ("bayes_remap", "Answer", "__wrapped__", "version"):
            try:
                print(getattr(ut, name).__name__)
            except AttributeError as error:
                print(error)
    """
    said = python("-c", code).stdout.splitlines()
    assert "write ut.optima.bayes_remap" in said[0]
    assert "ut.ledger.Answer or ut.releases.Answer" in said[1]
    assert said[2].endswith("'__wrapped__'")


def test_importing_loads_no_optional_package_and_no_room_that_a_release_does_not_need():
    code = (
        "import sys, utmost; print(*(m for m in ('scipy', 'pandas', 'polars', 'pyarrow', 'narwhals',"
        " 'numba', 'matplotlib', 'click', 'hypothesis',"
        " 'utmost.design.optima', 'utmost.design.geometry', 'utmost.interfaces') if m in sys.modules))"
    )
    assert python("-c", code).stdout.split() == []


def test_every_type_that_a_public_function_returns_can_be_imported_by_a_public_path():
    """Whoever annotates a result finds its class in the list of a room or, where no page makes one, in its file."""
    rooms = [utmost, *(getattr(utmost, name) for name in utmost._MODULES)]
    public = [getattr(room, name) for room in rooms for name in getattr(room, "__all__", ())]
    functions = [value for value in public if inspect.isfunction(value)]
    for kind in filter(inspect.isclass, public):
        functions += [part for name, part in inspect.getmembers(kind, inspect.isroutine) if not name.startswith("_")]
    ours = [vars(module) for name, module in [*sys.modules.items()] if name.partition(".")[0] == "utmost"]
    names = {name: value for loaded in ours for name, value in loaded.items() if inspect.isclass(value)}
    returned = {kind for function in functions for kind in _classes(_returned(function, names))}
    own = {kind for kind in returned if kind.__module__.startswith("utmost")}
    assert len(own) > 60
    for kind in own:
        path = f"{kind.__module__}.{kind.__qualname__}"
        assert not any(part.startswith("_") for part in path.split(".")), path
        assert getattr(import_module(kind.__module__), kind.__qualname__) is kind, path


ELSEWHERE = {"Figure", "Guards"}
"""Types of optional packages, or made by them: no module that is loaded without them has these names."""


def _returned(function, names):
    """The type of the result; a name that is imported for type checkers alone is one of ``names``."""
    inside = inspect.unwrap(function)
    hint = {"return": getattr(inside, "__annotations__", {}).get("return")}
    shell = types.SimpleNamespace(__annotations__=hint)
    try:
        return typing.get_type_hints(shell, globalns=getattr(inside, "__globals__", {}), localns=names)["return"]
    except NameError as error:
        if error.name not in ELSEWHERE:
            raise
        return None


def _classes(kind):
    return {kind} if inspect.isclass(kind) else set().union(*map(_classes, typing.get_args(kind)))
