"""Packages of others, imported when a door to them is opened."""

from importlib import import_module
from types import ModuleType

from utmost.errors import Unsupported

_CALLED = {"dp_accounting": "dp-accounting"}


def package(module: str) -> ModuleType:
    """A module of another package.

    Raises:
        Unsupported: where it is not installed.

    >>> package("json").__name__
    'json'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.partition(".")[0]
        called = _CALLED.get(name, name)
        remedy = f"Install it with: pip install {called}."
        raise Unsupported(f"this needs the package {called}", came=f"no module {error.name}", remedy=remedy) from None
