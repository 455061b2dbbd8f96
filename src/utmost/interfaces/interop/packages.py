"""Import other packages when they are first used; an error says how to install a missing one."""

from importlib import import_module
from types import ModuleType

from utmost.errors import Unsupported

_CALLED = {"dp_accounting": "dp-accounting"}


def package(module: str) -> ModuleType:
    """Import a module of another package; if it is missing, say how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.partition(".")[0]
        called = _CALLED.get(name, name)
        remedy = f"Run: pip install {called}."
        raise Unsupported(
            f"the package {called} must be installed", came=f"no module {error.name}", remedy=remedy
        ) from None
