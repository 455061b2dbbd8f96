"""The kinds of noise and of statements that there are, by public schemas; the classes of a package."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import get_args

from utmost.statements import DocumentKind, schema

_NOT_BY_ITSELF = {"any", "clean-table", "noisy-table"}
"""A clean table is read beside its release, and a table of declared noise promises nothing that could be checked."""


_ADDED = {"mixed cells", "doubled"}
"""Kinds that a page of the docs and tests/ledger/doubled_noise.py add to the process that runs them."""


def noise_kinds() -> set[str]:
    """Every kind of noise that a promise or a statement may name."""
    parts = schema("promise")["$defs"].items()
    return {part["properties"]["kind"]["const"] for name, part in parts if name.startswith("noise_")} - _ADDED


def concrete_classes(package: ModuleType, base: type) -> Iterator[type]:
    """The classes without abstract methods that the files of a package derive from a base class."""
    for file in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for name, value in vars(import_module(file.name)).items():
            is_own = inspect.isclass(value) and value.__module__ == file.name and not name.startswith("_")
            if is_own and issubclass(value, base) and not inspect.isabstract(value):
                yield value


def statement_kinds() -> set[str]:
    """Every kind of statement that is read by itself."""
    named = get_args(DocumentKind)
    statements = set(named[: named.index("promise")]) - _NOT_BY_ITSELF
    return {schema(kind)["properties"]["kind"]["const"] for kind in statements}
